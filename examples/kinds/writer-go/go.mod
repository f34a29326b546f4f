module example.com/writer-go

go 1.18

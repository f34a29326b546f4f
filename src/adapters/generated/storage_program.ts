export const STORAGE_PROGRAM: string = "";

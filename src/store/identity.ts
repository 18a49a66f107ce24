/** `LGSY`: tells a database of this program from any other SQLite file. */
export const APPLICATION_ID = 0x4c475359;

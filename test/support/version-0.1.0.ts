import { resolve } from 'node:path';
/** A database that version 0.1.0 made, with rows in every table. */
export const DATABASE_OF_0_1_0 = resolve(import.meta.dirname, '../fixtures/schema-1.db');

import { defineConfig } from 'drizzle-kit';

// `npx drizzle-kit generate` writes the next migration's skeleton; STRICT, checks and views are then added by hand.
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/schema.ts',
  out: './migrations',
});

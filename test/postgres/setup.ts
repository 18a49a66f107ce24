import type { TestProject } from 'vitest/node';
import { missingPostgres, startPostgres } from './server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server that all files share; 0 if there is none. */
    readonly postgresPort: number;
  }
}

/** Starts one server for all files, each of which makes databases of its own. */
export default async function setup(project: TestProject): Promise<(() => void) | undefined> {
  if (missingPostgres() !== undefined) {
    project.provide('postgresPort', 0);
    return undefined;
  }
  const server = await startPostgres();
  project.provide('postgresPort', server.port);
  return server.remove;
}

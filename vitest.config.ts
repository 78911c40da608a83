import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const isFullTier = process.env.SPANDREL_TEST_TIER === 'full';
/** Tests that need a PostgreSQL say so by their name. */
const POSTGRES = 'test/**/postgres*.test.ts';
/** What a store has a part in. Who may ask what, and what is refused before a store is asked, is the same over every one. */
const API_OF_STORES = isFullTier
  ? ['test/api/**/*.test.ts', 'test/otlp/same-spans.test.ts']
  : [
      'test/api/{events,gateway}/**/*.test.ts',
      'test/api/endpoints/deliveries.test.ts',
      'test/api/evaluators/evaluators.test.ts',
      'test/api/keys/create.test.ts',
      'test/api/management/{idempotency,two-organizations}.test.ts',
      'test/api/organization/{audit-log,last-administrator,projects}.test.ts',
      'test/api/traces/{analytics,changes,collect,export,get,invariants,retention,search,settings,span-limit,tail}.test.ts',
      'test/otlp/same-spans.test.ts',
    ];
/** Kills, revocations, repeats and walks over the log are tried with several processes there, by tests of its own. */
const SCENARIOS_OF_STORES = isFullTier
  ? ['test/scenarios/**/*.test.ts', 'test/crash/{kill,monitor-kills}.test.ts']
  : ['test/scenarios/{retention,secrets,webhook-batches}.test.ts'];
/** A store in memory is SQLite without a file: one thing of each kind shows that the file is not missed. */
const API_OF_MEMORY = isFullTier
  ? ['test/api/**/*.test.ts']
  : [
      'test/api/traces/{collect,get}.test.ts',
      'test/api/events/list.test.ts',
      'test/api/organization/organization.test.ts',
    ];

/** They take longest: begun last, they would leave a processor idle at the end. */
const BEGUN_FIRST =
  /\/(scenarios\/(webhook-kills|webhook-neighbours|access|attacks\/bodies)|storage\/postgres(-mishaps)?)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // A worker goes on with the modules it has loaded as long as the files are those of one project.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const rank = ({ project, moduleId }: TestSpecification) =>
      2 * projects.indexOf(project) + (BEGUN_FIRST.test(moduleId) ? 0 : 1);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than two cores: scenarios wait a good deal, for deadlines and for other processes. The bars of the long
    // run are those of a machine that does nothing else.
    maxWorkers: isFullTier ? 1 : 3,
    // What a file leaves behind is closed by itself; the modules of the server are loaded once for all files.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // What the tests start loads compiled code instead of TypeScript, from where the server keeps its own by default.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    // A server that fails is given the time to show how.
    testTimeout: isFullTier ? 900_000 : 120_000,
    hookTimeout: isFullTier ? 900_000 : 120_000,
    // The setup of a project runs only when one of its files does.
    projects: [
      {
        test: {
          name: 'sqlite',
          provide: { store: 'sqlite' },
          include: ['test/**/*.test.ts'],
          exclude: [POSTGRES],
          globalSetup: 'test/support/sqlite-setup.ts',
        },
      },
      {
        // A second organization can only be put into a database that others can open.
        test: { name: 'memory', provide: { store: 'memory' }, include: API_OF_MEMORY, exclude: ['test/api/access/**'] },
      },
      {
        test: {
          name: 'postgres',
          provide: { store: 'postgres' },
          include: [...API_OF_STORES, ...SCENARIOS_OF_STORES, POSTGRES],
          globalSetup: 'test/support/postgres-setup.ts',
        },
      },
    ],
  },
});

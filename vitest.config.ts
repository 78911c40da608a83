import { defineConfig } from 'vitest/config';

/** What goes through the whole server and must hold on every store. */
const API = 'test/api/**/*.test.ts';
/** Tests that need a PostgreSQL say so by their name. */
const POSTGRES = 'test/**/postgres*.test.ts';
/** What attackers do to the port is the same over every store; the long run tries it over both. */
const isFullTier = process.env.SPANDREL_TEST_TIER === 'full';
const ATTACKS = isFullTier ? [] : ['test/scenarios/attacks/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    // Two cores: more workers than cores only make the timing-sensitive scenarios noisy. The bars of the long run are
    // those of a machine that does nothing else.
    maxWorkers: isFullTier ? 1 : 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        test: { name: 'sqlite', provide: { store: 'sqlite' }, include: ['test/**/*.test.ts'], exclude: [POSTGRES] },
      },
      {
        // A second organization can only be put into a database that others can open.
        test: { name: 'memory', provide: { store: 'memory' }, include: [API], exclude: ['test/api/access/**'] },
      },
      {
        test: {
          name: 'postgres',
          provide: { store: 'postgres' },
          include: [API, POSTGRES, 'test/scenarios/**/*.test.ts', 'test/crash/kill.test.ts'],
          exclude: ATTACKS,
          // Runs only when one of these files does.
          globalSetup: 'test/support/postgres-setup.ts',
        },
      },
    ],
  },
});

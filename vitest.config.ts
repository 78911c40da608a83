import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const isFullTier = process.env.SPANDREL_TEST_TIER === 'full';
/** `npm run test:clickhouse`, which installs the engine first. */
const isOfClickHouse = process.env.SPANDREL_TEST_TIER === 'clickhouse';
const CLICKHOUSE = 'test/clickhouse/**/*.test.ts';
/** Scenarios that judge time or memory. The long run gives each the whole machine, as their bars ask. */
const TIMED_SCENARIOS = [
  'test/scenarios/attacks/**/*.test.ts',
  'test/scenarios/{bombs,hostile-input,overload,postgres-tail,retention,timing}.test.ts',
  'test/scenarios/webhook-{kills,neighbours,sockets,trouble}.test.ts',
  'test/crash/{kill,postgres-restart,postgres-silence,postgres-start}.test.ts',
];
/**
 * Those that fail on a busy machine, and those that take long for what others check in brief: kills, lost connections and
 * several processes. `npm test` leaves them out, so that it is green whatever runs beside it, and soon.
 */
const LONG = [
  'test/scenarios/attacks/**/*.test.ts',
  'test/scenarios/{bombs,hostile-input,overload,postgres-tail,retention,timing}.test.ts',
  'test/scenarios/webhook-{batches,changes,days,kills,neighbours,sockets,trouble}.test.ts',
  'test/scenarios/{access,log-walk,resend,revoke,postgres-{gateway,log,log-records,monitors,processes,resend,webhook-senders}}.test.ts',
  'test/crash/{drain,evaluator-run-kills,gateway-kills,monitor-kills,start,tls-renewal,trigger-kills}.test.ts',
  'test/api/triggers/kills.test.ts',
  'test/browser/webhooks.test.ts',
  'test/crash/postgres-{gateway-kills,gateway-outage,kill,lost-answer,outage,restart,silence,start}.test.ts',
  'test/storage/postgres-{budget-proxy,clocks,copy,deliveries,mishaps,monitors,share-backfill}.test.ts',
  'test/otlp/{hostile,same-spans}.test.ts',
];
const TIMED = [
  ...TIMED_SCENARIOS,
  'test/{browser,transport}/**/*.test.ts',
  'test/crash/{npm-start,start}.test.ts',
  'test/otlp/hostile.test.ts',
];
/** Attacks on what stands before the store: one store is enough for them. */
const BEFORE_THE_STORE = ['test/scenarios/attacks/{bodies,frames,streams}.test.ts'];
/** Tests that need a PostgreSQL say so by their name. */
const POSTGRES = 'test/**/postgres*.test.ts';
/** API tests that depend on the store. Authorization and validation run before the store is called, so SQLite is enough for them. */
const API_OF_STORES = isFullTier
  ? ['test/api/**/*.test.ts', 'test/otlp/same-spans.test.ts', 'test/gateway/proxy{,-capture}.test.ts']
  : [
      'test/gateway/proxy-capture.test.ts',
      'test/api/events/**/*.test.ts',
      'test/api/gateway/requests.test.ts',
      'test/api/management/{idempotency,two-organizations}.test.ts',
      'test/api/organization/{audit-log,last-administrator}.test.ts',
      'test/api/traces/{changes,collect,invariants,retention}.test.ts',
    ];
/** Scenarios named `postgres-*` run kills, revocations, repeats and walks over the log with several processes. */
const SCENARIOS_OF_STORES = isFullTier
  ? ['test/scenarios/**/*.test.ts', 'test/crash/{drain,evaluator-run-kills,kill,monitor-kills}.test.ts']
  : ['test/scenarios/secrets.test.ts'];
/** The memory store is SQLite without a file: a smoke test of the data and one of management are enough. */
const API_OF_MEMORY = isFullTier
  ? ['test/api/**/*.test.ts']
  : ['test/api/traces/collect.test.ts', 'test/api/organization/organization.test.ts'];

/** They add a second organization past the server, to a database that a second process can open. */
const OF_TWO_ORGANIZATIONS = ['test/api/access/**', 'test/api/pricing/overrides.test.ts'];

/** The slowest files: if they started last, a processor would be idle at the end. */
const BEGUN_FIRST = /\/(browser|crash|otlp|scenarios)\/|\/storage\/(postgres|sqlite|sqlite-start)\.test\.ts$/;

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

const SQLITE = { provide: { store: 'sqlite' as const }, globalSetup: 'test/support/sqlite-setup.ts' };
const MEMORY = { provide: { store: 'memory' as const } };
const POSTGRESQL = { provide: { store: 'postgres' as const }, globalSetup: 'test/support/postgres-setup.ts' };

/** A process of theirs goes on with the data of the one before. */
const OF_SEVERAL_PROCESSES = ['test/api/triggers/kills.test.ts', 'test/api/evaluations/judge-limits.test.ts'];

const NOT_OF_MEMORY = [...OF_TWO_ORGANIZATIONS, ...OF_SEVERAL_PROCESSES, POSTGRES];
/** Some metrics exist on one store only. */
const METRICS_OF_STORES = ['test/deploy/watching.test.ts'];
const OF_POSTGRESQL = [...API_OF_STORES, ...SCENARIOS_OF_STORES, ...METRICS_OF_STORES, POSTGRES];

/** The setup of a project runs only when one of its files does. */
const quickProjects = [
  { name: 'sqlite', ...SQLITE, include: ['test/**/*.test.ts'], exclude: [POSTGRES, CLICKHOUSE, ...LONG] },
  { name: 'memory', ...MEMORY, include: API_OF_MEMORY, exclude: NOT_OF_MEMORY },
  { name: 'postgres', ...POSTGRESQL, include: OF_POSTGRESQL, exclude: LONG },
];

/** The projects of the second group begin when the first one is through. */
const together = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const alone = { maxWorkers: 1, sequence: { groupOrder: 1 } };
const fullProjects = [
  { name: 'sqlite', ...SQLITE, ...together, include: ['test/**/*.test.ts'], exclude: [POSTGRES, CLICKHOUSE, ...TIMED] },
  { name: 'memory', ...MEMORY, ...together, include: API_OF_MEMORY, exclude: NOT_OF_MEMORY },
  { name: 'postgres', ...POSTGRESQL, ...together, include: OF_POSTGRESQL, exclude: TIMED },
  { name: 'sqlite-timed', ...SQLITE, ...alone, include: TIMED, exclude: [POSTGRES] },
  { name: 'postgres-timed', ...POSTGRESQL, ...alone, include: TIMED_SCENARIOS, exclude: BEFORE_THE_STORE },
];

const clickHouseProjects = [
  {
    name: 'clickhouse',
    ...SQLITE,
    globalSetup: ['test/support/sqlite-setup.ts', 'test/support/postgres-setup.ts', 'test/clickhouse/setup.ts'],
    include: [CLICKHOUSE],
  },
];

const projects = isOfClickHouse ? clickHouseProjects : isFullTier ? fullProjects : quickProjects;

export default defineConfig({
  test: {
    pool: 'forks',
    // As the server is started: most objects of a request die young.
    execArgv: ['--max-semi-space-size=16'],
    // Six on two cores, because scenarios often wait for deadlines and other processes.
    maxWorkers: 6,
    // What a file leaves behind is closed by itself; the modules of the server are loaded once for all files.
    isolate: false,
    // Node loads TypeScript by itself, as it does for the server: a sixth less processor time than through Vite.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // What the tests start loads compiled code instead of TypeScript, from where the server keeps its own by default.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    // Far beyond what any test takes on a busy machine: a test that waits for a condition has a deadline of its own.
    testTimeout: isFullTier ? 900_000 : 300_000,
    hookTimeout: isFullTier ? 900_000 : 120_000,
    projects: projects.map((test) => ({ test })),
  },
});

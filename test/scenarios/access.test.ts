import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { holdsToken } from '../support/access-fuzzer/hygiene.ts';
import { type Deps, type Facts, type Failure, playSeed, replaySteps, type Step } from '../support/access-fuzzer/run.ts';
import { shrink } from '../support/access-fuzzer/shrink.ts';
import { createSend } from '../support/access-fuzzer/wires.ts';
import { startApp } from '../support/app.ts';
import { drawSeed, inParallel, isFullTier, report } from '../support/scenario.ts';

/** The rules are the same on every store, so one store gets most seeds. */
const SEEDS = { sqlite: isFullTier ? 500 : 4, postgres: 50 };
/** Draws per seed; a draw may be several related operations. */
const OPERATIONS = 60;
const MORE_SEEDS_MAX = 40;
const MINUTES_MAX = isFullTier ? 60 : 5;
const SHRINK_TRIES_MAX = 80;
const SHRINK_MAX_MS = 60_000;

/** Cases that a long run must reach at least once. */
const SOMETIMES: readonly string[] = [
  ...['REST', 'gRPC', 'Connect', 'list of keys, own', 'list of keys, organization', 'grants of a key changed'],
  ...['personal key made', 'service key made', 'CreateApiKey administrator_required', 'CreateApiKey validation_error'],
  ...['CreateApiKey insufficient_permissions', 'CreateApiKey api_key_scope_violation', 'UpdateApiKey validation_error'],
  ...['UpdateApiKey api_key_scope_violation', 'UpdateApiKey api_key_not_found', 'GetApiKey api_key_not_found'],
  ...['ceiling at a scope that is seen', 'ceiling at a scope that is hidden', 'expiry beyond that of the caller'],
  ...['RotateApiKey 200', 'RotateApiKey api_key_not_owned', 'RotateApiKey api_key_scope_violation', 'RevokeApiKey 200'],
  ...['an expired key', 'a key lives longer', 'a project moved', 'UpdateProject role_binding_scope_violation'],
  ...['UpdateProject project_not_found', 'CreateProject 201'],
  ...['RotateProjectKey 200', 'CreateMember 201', 'CreateMember role_binding_scope_violation', 'UpdateMember 200'],
  ...['UpdateMember administrator_required', 'UpdateMember role_binding_scope_violation'],
  ...['CreateRoleBinding 201', 'CreateRoleBinding role_binding_scope_violation'],
  ...['a replay that is allowed', 'a replay that is refused', 'a project without any permission', 'CollectTrace 200'],
  ...['CollectTrace api_key_permission_denied', 'ListProjects 200', 'ListTeams 200', 'ListRoleBindings 200'],
  ...['two tokens, allowed', 'two tokens, refused'],
];

/** One server each, with its own clock: while one waits for its database, the others continue. */
const WRITERS = ['in its thread', 'here', 'here'] as const;

const facts: Facts = new Map();
let servers: readonly Deps[];
beforeAll(async () => {
  servers = await Promise.all(WRITERS.map(openServer));
});
afterAll(async () => {
  for (const { app } of servers) await app.close();
});

async function openServer(writer: (typeof WRITERS)[number]): Promise<Deps> {
  const clock = { nowMs: Date.now() };
  const app = await startApp({ clock: () => clock.nowMs, writer });
  return { app, clock, facts, send: await createSend(app.address) };
}

it(
  'every random request gets the answer of the independent model',
  async () => {
    const isRepeated = process.env.SPANDREL_TEST_SEED !== undefined;
    const first = drawSeed();
    const count = isRepeated ? 1 : inject('store') === 'postgres' ? SEEDS.postgres : SEEDS.sqlite;
    const seeds = Array.from({ length: count }, (_, index) => first + index);
    let failure = await playAll(seeds);
    // Random draws may miss a case; further seeds make up for it.
    const more = Array.from(
      { length: isRepeated || !isFullTier ? 0 : MORE_SEEDS_MAX },
      (_, index) => first + count + index,
    );
    while (failure === null && missing().length > 0 && more.length > 0)
      failure = await playAll(more.splice(0, WRITERS.length));
    report({ id: 'access', seed: failure?.seed ?? first, n: count * OPERATIONS, pass: failure === null });
    if (failure !== null) throw new Error(await describeFailure(failure));
    for (const { app } of servers) expect(app.logged.filter(holdsToken)).toEqual([]);
    if (!isRepeated && isFullTier) expect(missing()).toEqual([]);
  },
  MINUTES_MAX * 60_000,
);

function missing(): readonly string[] {
  return SOMETIMES.filter((fact) => !facts.has(fact));
}

/** Returns the first failure, or null. */
async function playAll(seeds: readonly number[]): Promise<Failure | null> {
  const left = [...seeds];
  let failure: Failure | null = null;
  await inParallel(servers, servers.length, async (server) => {
    for (let seed = left.shift(); seed !== undefined && failure === null; seed = left.shift()) {
      failure = (await playSeed(server, seed, OPERATIONS)) ?? failure;
    }
  });
  return failure;
}

/** Shrinks the failure to the fewest operations that still cause it. */
async function describeFailure({ seed, steps, differences }: Failure): Promise<string> {
  const [server] = servers;
  const fails = async (fewer: readonly Step[]) => server !== undefined && (await replaySteps(server, fewer)) !== null;
  const left = await shrink(steps, { fails, triesMax: SHRINK_TRIES_MAX, durationMaxMs: SHRINK_MAX_MS });
  const lines = left.map((step) => JSON.stringify(step));
  return [`seed ${seed} (SPANDREL_TEST_SEED=${seed}):`, ...differences, 'after:', ...lines].join('\n');
}

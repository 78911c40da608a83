/** Runs one seed: draws, predicts, sends and compares requests. */

import { callerOf, judge } from '../access-model/model.ts';
import type { Organization, State } from '../access-model/state.ts';
import type { Allowed, Ask } from '../access-model/verdict.ts';
import type { TestApp } from '../app.ts';
import { seeded } from '../scenario.ts';
import { type Chance, createChance } from './chance.ts';
import { differencesOf } from './compare.ts';
import { drawAsk } from './draw.ts';
import { createHygiene, type Hygiene } from './hygiene.ts';
import { createLabels, type Labels } from './labels.ts';
import { GIVES_POWER, watchPower, watchReplay } from './power-watch.ts';
import { drawSequence } from './sequences.ts';
import { foundOrganization } from './setup.ts';
import { type Answer, type Send, WIRES, type Wire } from './wires.ts';

/** A request in labels. `ask` is null when only time passes. */
export type Step = {
  readonly name: string;
  readonly wire: Wire;
  readonly spelling: number;
  readonly tickMs: number;
  readonly ask: Ask | null;
};

export type Facts = Map<string, number>;

export type Deps = {
  readonly app: TestApp;
  readonly send: Send;
  /** The server's clock; only the fuzzer advances it. */
  readonly clock: { nowMs: number };
  readonly facts: Facts;
};

export type Failure = {
  readonly seed: number;
  readonly steps: readonly Step[];
  readonly differences: readonly string[];
};

type Fixture = Deps & {
  readonly state: State;
  readonly labels: Labels;
  readonly hygiene: Hygiene;
  readonly pastTokens: string[];
};

/** Null: all as predicted. */
export async function playSeed(deps: Deps, seed: number, count: number): Promise<Failure | null> {
  const chance = createChance(seeded(seed));
  const fixture = await createFixture(deps);
  const steps: Step[] = [];
  const take = async (step: Step): Promise<readonly string[]> => {
    steps.push(step);
    return await takeStep(fixture, step);
  };
  for (let turn = 0; turn < count; turn++) {
    for (const drawn of drawTurn(fixture, chance, turn)) {
      const differences = await take({ ...drawn, ...drawCarriage(chance, drawn.tickMs) });
      if (differences.length > 0) return { seed, steps, differences };
    }
  }
  return null;
}

/** Runs recorded steps again. Null: all as predicted. */
export async function replaySteps(deps: Deps, steps: readonly Step[]): Promise<readonly string[] | null> {
  const fixture = await createFixture({ ...deps, facts: new Map() });
  for (const step of steps) {
    const differences = await takeStep(fixture, step);
    if (differences.length > 0) return differences;
  }
  return null;
}

async function createFixture(deps: Deps): Promise<Fixture> {
  const labels = createLabels();
  deps.clock.nowMs += 60_000;
  const organizations: Organization[] = [];
  for (const label of ['A', 'B']) {
    organizations.push(await foundOrganization({ ...deps, labels, nowMs: deps.clock.nowMs }, label));
  }
  // The model and the server share their clock.
  const state: State = {
    organizations,
    get nowMs() {
      return deps.clock.nowMs;
    },
  };
  const hygiene = createHygiene();
  for (const organization of organizations) noteOwner(hygiene, organization);
  return { ...deps, state, labels, hygiene, pastTokens: [] };
}

function noteOwner(hygiene: Hygiene, { id, teams, projects, members, keys }: Organization): void {
  for (const each of [id, ...[teams, projects, members, keys].flatMap((map) => [...map.keys()])]) hygiene.own(id, each);
}

type Drawn = { readonly name: string; readonly ask: Ask | null; readonly tickMs?: number };

function drawTurn({ state, labels, pastTokens }: Fixture, chance: Chance, turn: number): readonly Drawn[] {
  const past = { tokens: pastTokens };
  const drawn = drawSequence(chance, state, turn) ?? [{ ask: drawAsk(chance, state, { turn, past }) }];
  return drawn.map(({ ask, tickMs = 1 }, index) => ({
    name: `${turn}.${index}`,
    ask: ask === null ? null : labels.record(ask),
    tickMs,
  }));
}

function drawCarriage(chance: Chance, tickMs = 1): Pick<Step, 'wire' | 'spelling' | 'tickMs'> {
  const wire = chance.weigh({ REST: 45, gRPC: 35, Connect: 20 });
  return { wire: WIRES.find((each) => each === wire) ?? 'REST', spelling: chance.below(2), tickMs };
}

async function takeStep(
  fixture: Fixture,
  { name, wire, spelling, tickMs, ask: recorded }: Step,
): Promise<readonly string[]> {
  const { state, labels, hygiene, facts, clock } = fixture;
  clock.nowMs += tickMs;
  if (recorded === null) return [];
  const ask = labels.resolve(recorded);
  const caller = findCaller(state, ask);
  if (caller !== null) hygiene.collect(caller.organization.id, ask);
  const verdict = judge(state, ask);
  const answer = await fixture.send(wire, ask, spelling);
  const differences = differencesOf(verdict, answer);
  if (differences.length > 0) return differences;
  const unclean = hygiene.judge(caller?.organization.id ?? null, answer.body, verdict);
  if (unclean.length > 0) return unclean;
  count(facts, [
    `${ask.rpc} ${verdict.kind === 'refused' ? verdict.code : verdict.status}`,
    ...(verdict.facts ?? []),
    wire,
    ...(ask.authToken === undefined ? [] : [`two tokens, ${verdict.kind}`]),
  ]);
  if (verdict.kind === 'refused') return [];
  return takeEffect(fixture, { name, ask, verdict, answer });
}

type Effect = { readonly name: string; readonly ask: Ask; readonly verdict: Allowed; readonly answer: Answer };

function takeEffect(fixture: Fixture, { name, ask, verdict, answer }: Effect): readonly string[] {
  const { state, labels, hygiene } = fixture;
  const caller = findCaller(state, ask);
  const key = caller?.kind === 'key' ? caller.key : null;
  if (caller !== null && key !== null && verdict.isReplay) {
    return ask.rpc === 'CreateApiKey' ? watchReplay(caller.organization, key, answer.body) : [];
  }
  if (caller !== null && key !== null && GIVES_POWER.has(ask.rpc)) {
    const powerWatch = watchPower(caller.organization, key, ask);
    verdict.commit?.(answer.body);
    const found = powerWatch(answer.body);
    if (found.length > 0) return found;
  } else {
    verdict.commit?.(answer.body);
  }
  nameWhatWasMade(labels, { name, verdict, answer });
  for (const organization of state.organizations) noteOwner(hygiene, organization);
  fixture.pastTokens.push(...(verdict.secrets ?? []).map((member) => String(answer.body[member])).slice(0, 1));
  return [];
}

function nameWhatWasMade(labels: Labels, { name, verdict, answer: { body } }: Omit<Effect, 'ask'>): void {
  const id = body?.userId !== undefined && body.email !== undefined ? body.userId : body?.id;
  if (typeof id === 'string' && labels.labelOf(id) === null) labels.name(name, id);
  for (const member of verdict.secrets ?? []) {
    if (labels.labelOf(body[member]) === null) labels.name(`${name}.token`, body[member]);
  }
  // Only lists show the ids of the bindings that stand for member roles.
  for (const item of Array.isArray(body?.data) ? body.data : []) {
    const isRole = typeof item.id === 'string' && item.id.startsWith('rolebinding_');
    if (isRole && labels.labelOf(item.id) === null) labels.name(`role of ${labels.labelOf(item.userId)}`, item.id);
  }
}

function findCaller(state: State, ask: Ask) {
  try {
    return callerOf(state, ask);
  } catch {
    return null;
  }
}

function count(facts: Facts, names: readonly string[]): void {
  for (const name of names) facts.set(name, (facts.get(name) ?? 0) + 1);
}

/** Changes one endpoint at random moments during deliveries, and checks the rules that must hold then. */

import { setTimeout as delay } from 'node:timers/promises';
import { audit, FLAWLESS, isSigned } from './delivery-audit.ts';
import type { Push } from './receiver.ts';
import type { Body } from './surfaces.ts';
import { until } from './temp.ts';
import type { OwnEndpoint } from './webhook-client.ts';
import type { WebhookFixture } from './webhook-fixture.ts';

export type Facts = Map<string, number>;

export type Interleaving = {
  readonly fixture: WebhookFixture;
  readonly name: string;
  /** The type of the reported events; no other test reports it meanwhile. */
  readonly type: string;
  readonly random: () => number;
  readonly facts: Facts;
};

/** From the request to its answer. */
type Span = { readonly fromMs: number; readonly toMs: number };
type Report = Span & { readonly ids: readonly string[] };
type Act = Span & {
  readonly kind: 'disable' | 'enable' | 'move' | 'roll' | 'archive';
  /** Path and secrets (newest first) from then on. */
  readonly path: string;
  readonly secrets: readonly string[];
};

const ACTS_MAX = 4;
const REPORTS = 5;
const KINDS = ['disable', 'enable', 'move', 'roll'] as const;

/** Runs to the end. Returns the broken rules. */
export async function playInterleaving(interleaving: Interleaving): Promise<readonly string[]> {
  const { fixture, name, type, random, facts } = interleaving;
  const draw = (max: number) => Math.floor(random() * max);
  const note = (fact: string) => facts.set(fact, (facts.get(fact) ?? 0) + 1);
  const path = `/${name}/0`;
  const maxInFlight = 1 + draw(4);
  const endpoint = await fixture.create(fixture.receiver.url(path), {
    enabled_events: [type],
    max_in_flight: maxInFlight,
    max_batch_size: 1 + draw(5),
    max_batch_delay_ms: draw(3) * 10,
  });
  const acts: Act[] = [{ kind: 'enable', ...(await spanOf(async () => undefined)), path, secrets: [endpoint.secret] }];
  const reports: Report[] = [];
  const owner = actAtRandom({ ...interleaving, endpoint, acts });
  for (let index = 0; index < REPORTS; index += 1) {
    let ids: readonly string[] = [];
    const span = await spanOf(async () => {
      ids = await fixture.reportKeys(type, 1 + draw(6), `${name}_`);
    });
    reports.push({ ...span, ids });
    await delay(draw(15));
  }
  await owner;
  const isArchived = acts.at(-1)?.kind === 'archive';
  if (!isArchived) await fixture.untilIdle(endpoint.id);
  else await until(() => pushesOf(interleaving).every(({ status }) => status !== null));
  const pushes = pushesOf(interleaving);
  for (const { kind } of acts) note(kind);
  const attempts = isArchived ? null : await fixture.attempts(endpoint.id);
  if (!isArchived) await fixture.archive(endpoint.id);
  return [
    ...judgeEvents({ acts, reports, pushes, isArchived }),
    ...judgeSignatures({ acts, pushes }),
    ...(attempts === null ? judgeArchived(acts, pushes, maxInFlight) : judgeAttempts({ acts, pushes, attempts, note })),
  ];
}

/** Identifies events by their virtual keys. */
function pushesOf({ fixture, name }: Interleaving): readonly Push[] {
  return fixture.receiver.pushes
    .filter((push) => push.path.startsWith(`/${name}/`))
    .map((push) => ({ ...push, eventIds: keysOf(push) }));
}

function keysOf({ body }: Push): readonly string[] {
  return JSON.parse(body.toString()).batch.map((event: Body) => event.data.virtual_key_id);
}

async function spanOf(work: () => Promise<unknown>): Promise<Span> {
  const fromMs = Date.now();
  await work();
  return { fromMs, toMs: Date.now() };
}

type Owner = Interleaving & { readonly endpoint: OwnEndpoint; readonly acts: Act[] };

async function actAtRandom({ fixture, name, random, endpoint: { id }, acts }: Owner): Promise<void> {
  const draw = (max: number) => Math.floor(random() * max);
  const state = { path: acts[0]?.path ?? '', secrets: acts[0]?.secrets ?? [] };
  const count = 1 + draw(ACTS_MAX);
  const act = async (kind: Act['kind'], work: () => Promise<unknown>) => {
    const span = await spanOf(work);
    acts.push({ kind, ...span, ...state });
  };
  for (let index = 1; index <= count; index += 1) {
    await delay(draw(40));
    const kind = KINDS[draw(KINDS.length)] ?? 'disable';
    if (kind === 'move') {
      await act(kind, async () => {
        state.path = `/${name}/${index}`;
        await fixture.change(id, { url: fixture.receiver.url(state.path) });
      });
    } else if (kind === 'roll') {
      const overlapSeconds = draw(2) * 600;
      await act(kind, async () => {
        const secret = await fixture.roll(id, overlapSeconds);
        state.secrets = overlapSeconds > 0 ? [secret, state.secrets[0] ?? ''] : [secret];
      });
    } else await act(kind, () => fixture.change(id, { status: kind === 'disable' ? 'disabled' : 'active' }));
  }
  await delay(draw(40));
  if (random() < 0.2) await act('archive', () => fixture.archive(id));
  else await act('enable', () => fixture.change(id, { status: 'active' }));
}

/** The act in force at an instant; uncertain while another act was under way. */
function actAt(acts: readonly Act[], atMs: number): { readonly act: Act | undefined; readonly isCertain: boolean } {
  const act = acts.findLast(({ toMs }) => toMs < atMs);
  return { act, isCertain: !acts.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs) };
}

/** Whether the endpoint was enabled; null if a client cannot know. */
function wasActive(acts: readonly Act[], { fromMs, toMs }: Span): boolean | null {
  if (acts.some((act) => act.fromMs <= toMs && fromMs <= act.toMs)) return null;
  const last = acts.findLast(({ kind, toMs: atMs }) => atMs < fromMs && kind !== 'move' && kind !== 'roll');
  return last?.kind === 'enable';
}

type Events = {
  readonly acts: readonly Act[];
  readonly reports: readonly Report[];
  readonly pushes: readonly Push[];
  readonly isArchived: boolean;
};

/** Events of enabled times must arrive, events of disabled times must not, and none twice. */
function judgeEvents({ acts, reports, pushes, isArchived }: Events): readonly string[] {
  const received = new Set(pushes.flatMap(({ eventIds }) => eventIds));
  const owed = reports.flatMap((each) => {
    const isActive = wasActive(acts, each);
    return each.ids.filter((id) => isActive ?? received.has(id));
  });
  const secrets = acts.flatMap((act) => act.secrets);
  const found = audit({ pushes, subscribed: owed, secrets });
  const due = isArchived ? { ...found, lost: 0 } : found;
  return Object.entries(due).flatMap(([name, count]) =>
    count === FLAWLESS[name as keyof typeof FLAWLESS] ? [] : [`${name}: ${count}`],
  );
}

function judgeSignatures({ acts, pushes }: Pick<Events, 'acts' | 'pushes'>): readonly string[] {
  const secrets = acts.flatMap((act) => act.secrets);
  return pushes.every((push) => isSigned(push, secrets)) ? [] : ['a signature is of no secret at all'];
}

/** After archiving, only requests in progress may arrive. */
function judgeArchived(acts: readonly Act[], pushes: readonly Push[], maxInFlight: number): readonly string[] {
  const archivedAtMs = acts.at(-1)?.toMs ?? 0;
  const late = pushes.filter(({ atMs }) => atMs > archivedAtMs).length;
  return late <= maxInFlight ? [] : [`${late} requests after the endpoint was archived`];
}

type Attempts = Pick<Events, 'acts' | 'pushes'> & {
  readonly attempts: readonly Body[];
  readonly note: (fact: string) => void;
};

/** No attempt may use a state that an acknowledged change has ended. */
function judgeAttempts({ acts, pushes, attempts, note }: Attempts): readonly string[] {
  const pushOf = new Map(pushes.map((push) => [`${push.dispatchId} ${push.attempt}`, push]));
  return attempts.flatMap((attempt) => {
    const firedAtMs = Date.parse(attempt.fired_at);
    const { act, isCertain } = actAt(acts, firedAtMs);
    const push = pushOf.get(`${attempt.dispatch_id} ${attempt.attempt}`);
    if (act === undefined || push === undefined || !isCertain) return [];
    const problems: string[] = [];
    const isActive = wasActive(acts, { fromMs: firedAtMs, toMs: firedAtMs });
    if (isActive === false)
      problems.push(`an attempt began ${firedAtMs - act.toMs} ms after the endpoint was disabled`);
    // The sender uses the state of the moment of the send, which the owner may have changed since the claim.
    const meanwhile = acts.filter(({ fromMs }) => fromMs > firedAtMs && fromMs <= push.atMs);
    const deviations = [act, ...meanwhile].map((each) => deviationsFrom(each, push));
    if (deviations.every((each) => each.length > 0)) problems.push(...(deviations[0] ?? []));
    const next = acts.find(({ fromMs }) => fromMs > firedAtMs);
    if (next !== undefined && firedAtMs + attempt.latency_ms > next.toMs) note('in progress while the owner acted');
    if (push.createdAtMs.some((createdAtMs) => acts.some((other) => isBetween(other, createdAtMs, firedAtMs)))) {
      note('held, and sent after the endpoint was enabled');
    }
    return problems;
  });
}

/** What is different from a request that the endpoint sends after an act. */
function deviationsFrom({ path, secrets }: Act, push: Push): readonly string[] {
  const deviations: string[] = [];
  if (push.path !== path) deviations.push(`an attempt went to ${push.path} in place of ${path}`);
  const count = String(push.headers['webhook-signature']).split(' ').length;
  if (count !== secrets.length) deviations.push(`${count} signatures in place of ${secrets.length}`);
  if (!secrets.every((secret) => isSigned(push, [secret]))) deviations.push('a secret does not sign that should');
  return deviations;
}

function isBetween({ kind, fromMs, toMs }: Act, createdAtMs: number, firedAtMs: number): boolean {
  return kind === 'disable' && createdAtMs < fromMs && toMs < firedAtMs;
}

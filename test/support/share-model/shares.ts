/**
 * The totals of a trace, read from the documents and as plainly as possible. Shares no code with the product, so that
 * tests can compare the two.
 */

export type ModelSpan = {
  readonly id: string;
  readonly parent: string | null;
  readonly type: string;
  /** The price row of its model; null: the span is not a call. */
  readonly row: string | null;
  readonly start: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly cost: { readonly nano: number; readonly source: 'explicit' | 'registry' | 'result' } | null;
  /** Nano-USD per token of the price list. */
  readonly rates: { readonly input: number; readonly output: number } | null;
};

export type ModelShare = { input: number | null; output: number | null; cost: number | null };

export type ModelRole = 'call' | 'outer' | 'inner' | 'container';

export type ModelTrace = {
  readonly shares: ReadonlyMap<string, ModelShare>;
  readonly roles: ReadonlyMap<string, ModelRole>;
  readonly partners: ReadonlyMap<string, string>;
};

const CHAIN_MAX = 512;

export function readTrace(spans: readonly ModelSpan[]): ModelTrace {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const onCycles = new Set(spans.filter((span) => isOnCycle(span, byId)));
  const parentOf = (span: ModelSpan): ModelSpan | undefined =>
    span.parent === null || onCycles.has(span) ? undefined : byId.get(span.parent);
  const children = new Map(spans.map((span) => [span.id, [] as ModelSpan[]]));
  for (const span of spans) {
    const parent = parentOf(span);
    if (parent !== undefined) children.get(parent.id)?.push(span);
  }
  const below = (span: ModelSpan) => children.get(span.id) ?? [];
  const depth = (span: ModelSpan): number => {
    const parent = parentOf(span);
    return parent === undefined ? 1 : 1 + depth(parent);
  };
  if (spans.some((span) => depth(span) > CHAIN_MAX)) return readMarked(spans);

  /** The calls under a span that no other call separates from it; `isApart`: behind a tool or an agent. */
  const nearest = (span: ModelSpan): readonly { readonly call: ModelSpan; readonly isApart: boolean }[] =>
    below(span).flatMap((child) => {
      if (child.row !== null) return [{ call: child, isApart: false }];
      const isApart = child.type === 'tool' || child.type === 'agent';
      return nearest(child).map((each) => ({ call: each.call, isApart: isApart || each.isApart }));
    });

  const roles = new Map<string, ModelRole>();
  const partners = new Map<string, string>();
  const counted = new Map<string, { readonly input: number; readonly output: number }>();
  const childSum = (span: ModelSpan, member: 'input' | 'output') =>
    below(span).reduce((sum, child) => sum + (counted.get(child.id)?.[member] ?? 0), 0);

  const visit = (span: ModelSpan): void => {
    for (const child of below(span)) visit(child);
    const own = { input: span.input ?? 0, output: span.output ?? 0 };
    const sums = { input: childSum(span, 'input'), output: childSum(span, 'output') };
    const near = nearest(span);
    const nearSum = (member: 'input' | 'output') =>
      near.reduce((sum, { call }) => sum + (counted.get(call.id)?.[member] ?? 0), 0);
    const repeats =
      near.length >= 2 &&
      near.every(({ call, isApart }) => !isApart && call.row === span.row) &&
      nearSum('input') === own.input &&
      nearSum('output') === own.output &&
      own.input + own.output > 0;
    if (span.row === null || repeats) {
      roles.set(span.id, 'container');
      const most = { input: Math.max(own.input, sums.input), output: Math.max(own.output, sums.output) };
      counted.set(span.id, most);
      return;
    }
    const same = near
      .filter(({ call, isApart }) => !isApart && call.row === span.row && !partners.has(call.id))
      .filter(({ call }) => (call.input ?? 0) === own.input && (call.output ?? 0) === own.output)
      .sort((a, b) => a.call.start - b.call.start || (a.call.id < b.call.id ? -1 : 1))[0]?.call;
    roles.set(span.id, same === undefined ? 'call' : 'outer');
    if (same === undefined) {
      counted.set(span.id, { input: own.input + sums.input, output: own.output + sums.output });
      return;
    }
    if (roles.get(same.id) === 'call') roles.set(same.id, 'inner');
    partners.set(span.id, same.id);
    partners.set(same.id, span.id);
    counted.set(span.id, sums);
  };
  for (const span of spans) if (parentOf(span) === undefined) visit(span);

  const shares = new Map<string, ModelShare>();
  for (const span of spans) {
    const all = counted.get(span.id) ?? { input: 0, output: 0 };
    const left = (member: 'input' | 'output') => Math.max(0, all[member] - childSum(span, member));
    shares.set(span.id, {
      input: span.input === null ? null : left('input'),
      output: span.output === null ? null : left('output'),
      cost: null,
    });
  }
  const costs = new Map<string, number>();
  const visitCosts = (span: ModelSpan): void => {
    for (const child of below(span)) visitCosts(child);
    const under = below(span).reduce((sum, child) => sum + (costs.get(child.id) ?? 0), 0);
    const share = shares.get(span.id);
    if (share === undefined) return;
    const partnerId = partners.get(span.id);
    const partner = partnerId === undefined ? undefined : byId.get(partnerId);
    share.cost = costShare(span, { role: roles.get(span.id) ?? 'container', share, under, partner });
    costs.set(span.id, under + (span.cost?.source === 'result' ? 0 : (share.cost ?? 0)));
  };
  for (const span of spans) if (parentOf(span) === undefined) visitCosts(span);
  return { shares, roles, partners };
}

type Costing = {
  readonly role: ModelRole;
  readonly share: ModelShare;
  readonly under: number;
  readonly partner: ModelSpan | undefined;
};

function costShare(span: ModelSpan, { role, share, under, partner }: Costing): number | null {
  const own = span.cost?.nano ?? null;
  if (span.cost?.source === 'result' || role === 'call') return own;
  if (role === 'outer') return own === null ? null : 0;
  const explicit =
    span.cost?.source === 'explicit' ? own : partner?.cost?.source === 'explicit' ? partner.cost.nano : null;
  if (role === 'inner') return explicit ?? own;
  if (explicit !== null) return Math.max(0, explicit - under);
  if (own === null) return null;
  const [input, output] = [share.input ?? 0, share.output ?? 0];
  if (input === (span.input ?? 0) && output === (span.output ?? 0)) return own;
  if (input + output === 0) return 0;
  return span.rates === null ? null : input * span.rates.input + output * span.rates.output;
}

/** A chain is too long: calls count what they report, and nothing else counts. */
function readMarked(spans: readonly ModelSpan[]): ModelTrace {
  const shares = new Map<string, ModelShare>();
  const roles = new Map<string, ModelRole>();
  for (const span of spans) {
    const isCall = span.row !== null;
    const of = (value: number | null) => (value === null ? null : isCall ? value : 0);
    const keepsCost = isCall || span.cost?.source === 'result';
    const cost = span.cost === null ? null : keepsCost ? span.cost.nano : 0;
    shares.set(span.id, { input: of(span.input), output: of(span.output), cost });
    roles.set(span.id, isCall ? 'call' : 'container');
  }
  return { shares, roles, partners: new Map() };
}

function isOnCycle(span: ModelSpan, byId: ReadonlyMap<string, ModelSpan>): boolean {
  const seen = new Set<string>();
  let at = span.parent === null ? undefined : byId.get(span.parent);
  while (at !== undefined && !seen.has(at.id)) {
    if (at.id === span.id) return true;
    seen.add(at.id);
    at = at.parent === null ? undefined : byId.get(at.parent);
  }
  return false;
}

/** The sum of the known values; null without any. */
export function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}

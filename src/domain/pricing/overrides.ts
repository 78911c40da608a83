/** Creates, lists and removes the price overrides of an organization. */

import { Fault } from '../fault.ts';
import { newId } from '../ids.ts';
import { refreshCall } from '../management/fresh-caller.ts';
import type { ManagementCall } from '../management/management-call.ts';
import { type CommitDeps, commitAudited } from '../management/optimistic-commit.ts';
import type { StoredOverride } from './override.ts';
import { checkOverride, type OverrideDraft } from './override-draft.ts';
import { loadPatternEngine } from './patterns.ts';

export type PriceOverrides = {
  /** Newest first. */
  list(call: ManagementCall): Promise<readonly StoredOverride[]>;
  /** Throws validation_error, price_override_limit_reached. */
  create(call: ManagementCall, draft: OverrideDraft): Promise<StoredOverride>;
  /** Throws price_override_not_found. */
  remove(call: ManagementCall, id: string): Promise<void>;
};

const OVERRIDES_MAX = 200;
/** The total size of an organization's compiled patterns: it bounds the time to look up a new name. */
const PATTERNS_SIZE_MAX = 1_000;

export function createPriceOverrides(deps: CommitDeps): PriceOverrides {
  const { store } = deps;
  return {
    list: ({ caller }) => store.priceOverrides(caller.organization.id),
    create: (call, draft) => createOverride(deps, call, draft),
    remove: (call, id) => removeOverride(deps, call, id),
  };
}

async function createOverride(deps: CommitDeps, call: ManagementCall, draft: OverrideDraft): Promise<StoredOverride> {
  const { store, random } = deps;
  const { content, size } = await checkOverride(draft);
  const organizationId = call.caller.organization.id;
  return await commitAudited(deps, call, async () => {
    await refreshCall(store, call, 'organization:manage');
    await requireCapacity(await store.priceOverrides(organizationId), size);
    const id = newId('override', random);
    const override = { ...content, organizationId, id, createdAtMs: call.nowMs };
    const audited = { action: 'priceOverride.create', targetId: id, status: 201 };
    return { result: override, change: { priceOverrides: [override] }, audited };
  });
}

async function requireCapacity(stored: readonly StoredOverride[], size: number): Promise<void> {
  if (stored.length >= OVERRIDES_MAX) throw limitReached(`at most ${OVERRIDES_MAX} price overrides`);
  if (size === 0) return;
  const { measure } = await loadPatternEngine();
  const sizes = stored.map(({ match, model }) => (match === 'regex' ? measure(model) : 0));
  const total = sizes.reduce<number>((sum, each) => sum + (typeof each === 'number' ? each : 0), size);
  if (total > PATTERNS_SIZE_MAX) throw limitReached('no larger patterns than these; remove some or write them shorter');
}

function limitReached(what: string): Fault {
  return new Fault('price_override_limit_reached', `An organization has ${what}.`);
}

function removeOverride(deps: CommitDeps, call: ManagementCall, id: string): Promise<void> {
  return commitAudited(deps, call, async () => {
    await refreshCall(deps.store, call, 'organization:manage');
    const stored = await deps.store.priceOverrides(call.caller.organization.id);
    if (!stored.some((override) => override.id === id)) {
      throw new Fault('price_override_not_found', 'The price override is not known.');
    }
    const audited = { action: 'priceOverride.delete', targetId: id };
    return { result: undefined, change: { removedPriceOverrides: [{ id }] }, audited };
  });
}

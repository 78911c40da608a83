/** Saves states of the list of traces under names, for all of a project or for one person. */

import type { Project } from '../../caller.ts';
import type { RandomBytes } from '../../clock.ts';
import type { CursorCodec } from '../../cursor.ts';
import { Fault, type Reason } from '../../fault.ts';
import { isPossibleId, newId } from '../../ids.ts';
import { type Actor, auditRecord, changedFields } from '../../management/audit.ts';
import { bindFilter, type CursorPage, type CursorPageRequest, readCursorPage } from '../../management/listing.ts';
import { countCodePoints, customReason, lengthReason, refuseProblems } from '../../reasons.ts';
import { nextUpdateMs, normalizeName, retryStale } from '../../resources.ts';
import type { SavedView, SavedViewStore } from './saved-view.ts';

type SavedViewsDeps = {
  readonly store: SavedViewStore;
  readonly cursors: CursorCodec;
  readonly random: RandomBytes;
};

export type SavedViewCall = {
  readonly project: Project;
  readonly actor: Actor;
  readonly nowMs: number;
  /** Whether the caller holds a permission in the project. */
  readonly may: (permission: Permission) => boolean;
  /** Throws api_key_permission_denied for a permission that the caller does not hold. */
  readonly require: (permission: Permission) => void;
};

/**
 * A view of the project is a part of how its traces are kept, as their metadata is, so those who change these change it. That of
 * another person needs what deleting traces needs.
 */
type Permission = 'traces:update' | 'project:manage';

export type SavedViewDraft = Pick<SavedView, 'name' | 'search' | 'visibility'>;
export type SavedViewChange = Partial<SavedViewDraft>;

const MAX = { ofProject: 1_000, ofPerson: 100 };
const NAME_CHARACTERS_MAX = 128;
const SEARCH_CHARACTERS_MAX = 4_096;
const FIELDS = { name: 'name', search: 'search', visibility: 'visibility' } as const;

export type SavedViews = ReturnType<typeof createSavedViews>;

export function createSavedViews({ store, cursors, random }: SavedViewsDeps) {
  /** Throws saved_view_not_found, also for a personal view of another person. */
  async function get({ project, actor }: SavedViewCall, id: string): Promise<SavedView> {
    const found = isPossibleId(id) ? await store.find(project.id, id) : null;
    if (found === null) throw notFound();
    if (found.visibility === 'PERSONAL' && found.createdBy !== actor.actorUserId) throw notFound();
    return found;
  }

  return {
    get,
    /** Throws what changing a view throws to a caller who may not. */
    admit: async (call: SavedViewCall, id: string) => requireChange(call, await get(call, id)),
    /** The newest first. Throws invalid_cursor. */
    list({ project, actor }: SavedViewCall, request: CursorPageRequest): Promise<CursorPage<SavedView>> {
      const userId = actor.actorUserId;
      const binding = ['saved-views', project.id, bindFilter(userId)];
      const listing = { cursors, binding, positionOf: (view: SavedView) => view };
      return readCursorPage(listing, request, (range) => store.list(project.id, { ...range, userId }));
    },
    /** Throws validation_error, api_key_permission_denied and saved_view_limit_reached. */
    async create(call: SavedViewCall, draft: SavedViewDraft): Promise<SavedView> {
      const { project, actor, nowMs } = call;
      refuseProblems([...viewProblems(draft), ...ownerProblems(draft, actor.actorUserId)]);
      const view: SavedView = {
        ...normalized(draft),
        projectId: project.id,
        id: newId('savedview', random),
        createdBy: actor.actorUserId,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      requireChange(call, view);
      const action = { action: 'savedView.create', targetId: view.id, status: 201 };
      if ((await store.insert(view, MAX, auditRecord(actor, action, { nowMs, random }))) === 'stored') return view;
      throw limitReached(view);
    },
    /** Stores nothing when nothing changes. Throws what `create` and `get` throw. */
    async update(call: SavedViewCall, id: string, change: SavedViewChange): Promise<SavedView> {
      const { actor, nowMs } = call;
      refuseProblems(viewProblems(change));
      return await retryStale('Others keep changing this view; try again.', async () => {
        const stored = await get(call, id);
        requireChange(call, stored);
        const next = { ...stored, ...normalized(change), updatedAtMs: nextUpdateMs(stored, nowMs) };
        if (stored.visibility !== next.visibility) {
          refuseProblems(next.createdBy === actor.actorUserId ? ownerProblems(next, next.createdBy) : [NOT_YOURS]);
          requireChange(call, next);
        }
        const fields = changedFields(FIELDS, stored, next);
        if (fields.length === 0) return stored;
        const audited = auditRecord(actor, { action: 'savedView.update', targetId: id, fields }, { nowMs, random });
        const outcome = await store.replace(next, { updatedAtMs: stored.updatedAtMs, max: MAX }, audited);
        if (outcome === 'limit_reached') throw limitReached(next);
        return outcome === 'stored' ? next : outcome;
      });
    },
    /** Throws what `get` throws, and api_key_permission_denied. */
    async remove(call: SavedViewCall, id: string): Promise<void> {
      const { project, actor, nowMs } = call;
      requireChange(call, await get(call, id));
      const audited = auditRecord(actor, { action: 'savedView.delete', targetId: id }, { nowMs, random });
      if (!(await store.remove(project.id, id, audited))) throw notFound();
    },
    /** Whether the caller may change and delete a view that they see. */
    mayChange: (call: SavedViewCall, view: SavedView) => missingFor(call, view) === null,
  };
}

function requireChange(call: SavedViewCall, view: SavedView): void {
  const missing = missingFor(call, view);
  if (missing !== null) call.require(missing);
}

/** The permission that the caller lacks to change a view. Nobody owns what a service key or a project key saved. */
function missingFor({ actor, may }: SavedViewCall, { visibility, createdBy }: SavedView): Permission | null {
  if (visibility === 'PERSONAL' || may('project:manage')) return null;
  if (createdBy !== null && createdBy !== actor.actorUserId) return 'project:manage';
  return may('traces:update') ? null : 'traces:update';
}

/** The problems of what is sent of a view. */
export function viewProblems({ name, search }: SavedViewChange): readonly Reason[] {
  const problems: Reason[] = [];
  const characters = name === undefined ? 1 : countCodePoints(name.trim());
  if (characters < 1 || characters > NAME_CHARACTERS_MAX) {
    problems.push(lengthReason('name', `1 to ${NAME_CHARACTERS_MAX} characters`));
  }
  if (search !== undefined && countCodePoints(search) > SEARCH_CHARACTERS_MAX) {
    problems.push(lengthReason('search', `at most ${SEARCH_CHARACTERS_MAX} characters`));
  }
  if (search?.startsWith('?')) problems.push(customReason('search', 'search must not begin with a question mark'));
  return problems;
}

function ownerProblems({ visibility }: SavedViewDraft, userId: string | null): readonly Reason[] {
  return visibility === 'PERSONAL' && userId === null ? [NO_PERSON] : [];
}

const NO_PERSON = customReason('visibility', 'visibility cannot be PERSONAL: no person is behind this credential');
const NOT_YOURS = customReason('visibility', 'visibility can be changed only by the person who saved the view');

function normalized<Draft extends SavedViewChange>(draft: Draft): Draft {
  const { name, search } = draft;
  return {
    ...draft,
    ...(name !== undefined && { name: normalizeName(name) }),
    ...(search !== undefined && { search: search.toWellFormed() }),
  };
}

function limitReached({ visibility }: SavedView): Fault {
  const [who, max] = visibility === 'PERSONAL' ? ['You have', MAX.ofPerson] : ['The project has', MAX.ofProject];
  return new Fault('saved_view_limit_reached', `${who} ${max} saved views here; delete some first.`);
}

function notFound(): Fault {
  return new Fault('saved_view_not_found', 'Saved view not found.');
}

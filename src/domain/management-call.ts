/** What the rules of management know of a call. */

import type { KeyCaller } from './administrators.ts';
import type { Actor } from './audit.ts';
import { Fault } from './fault.ts';
import type { Receipt } from './management.ts';
import { may, type Scope } from './permissions.ts';
import { hasMoreCharactersThan } from './text-limits.ts';

export type ManagementCall = {
  readonly caller: KeyCaller;
  readonly actor: Actor;
  readonly nowMs: number;
  /** Only of a request whose effect is there already, sent again with its idempotency key. */
  readonly replay?: Replay;
};

export type Replay = {
  /** What the kept answer is about, where the caller's rules depend on that; null elsewhere. */
  readonly answeredId: string | null;
  /** Ends the operation before it has an effect: the kept answer is given. */
  readonly pass: () => never;
};

/** The answer of an effect, to be stored together with it; undefined when nobody will ask for it again. */
export type ReceiptOf<R> = (result: R) => Receipt | undefined;

/** Throws insufficient_permissions unless the caller holds the permission there. */
export function requirePermission({ caller }: ManagementCall, permission: string, scope: Scope): void {
  if (!may(caller.principal, permission, scope)) throw insufficientPermissions(permission);
}

export function insufficientPermissions(permission: string): Fault {
  return new Fault('insufficient_permissions', `This operation needs the permission ${permission}.`, {
    meta: { requiredPermission: permission },
  });
}

export function administratorRequired(): Fault {
  return new Fault('administrator_required', 'This operation is reserved for administrators.');
}

const ID_CHARACTERS_MAX = 200;

/** Whether anything can have this id; what nothing can have is unknown without asking the store. */
export function isNameable(id: string): boolean {
  return !id.includes('\0') && !hasMoreCharactersThan(id, ID_CHARACTERS_MAX);
}

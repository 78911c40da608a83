/** A management request as the rules see it. */

import type { SignedIn } from '../caller.ts';
import { Fault } from '../fault.ts';
import { may, type Scope } from '../keys/permissions.ts';
import type { KeyCaller } from '../organization/administrators.ts';
import type { Actor } from './audit.ts';
import type { Receipt } from './management.ts';

export type ManagementCall = {
  readonly caller: KeyCaller;
  readonly actor: Actor;
  readonly nowMs: number;
  /** Set for a repeated request whose first try took effect. */
  readonly replay?: Replay;
};

type Replay = {
  /** The id of the record in the stored answer, where the rules about the caller depend on it; else null. */
  readonly answeredId: string | null;
  /** Ends the operation without effect; the stored answer is sent. */
  readonly pass: () => never;
};

/** Makes the receipt to store with a change; undefined when the request has no idempotency key. */
type ReceiptOf<R> = (result: R) => Receipt | undefined;

/** A call of an operation that takes idempotency keys; `R` is its result. */
export type IdempotentCall<R> = ManagementCall & { readonly receipt: ReceiptOf<R> };

/** A call about one record. */
export type Target<Call = ManagementCall> = { readonly call: Call; readonly id: string };

/** Throws insufficient_permissions unless the caller holds the permission there. */
export function requirePermission({ caller }: ManagementCall, permission: string, scope: Scope): void {
  if (!may(caller.principal, permission, scope)) throw insufficientPermissions(permission);
}

export function insufficientPermissions(permission: string): Fault {
  return new Fault('insufficient_permissions', `This operation needs the permission ${permission}.`, {
    meta: { requiredPermission: permission },
  });
}

/** The refusal of a caller that lacks a permission in a project. */
export function permissionDenied(permission: string, caller: SignedIn, projectId: string): Fault {
  const { id: apiKeyId = null, userId = null } = caller.kind === 'api_key' ? caller.key : {};
  return new Fault('api_key_permission_denied', `This API key lacks the permission ${permission} in the project.`, {
    meta: { permission, apiKeyId, userId, projectId },
  });
}

export function administratorRequired(): Fault {
  return new Fault('administrator_required', 'This operation is reserved for administrators.');
}

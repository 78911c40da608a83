/**
 * The catalogue of expected failures. Every transport derives its error body from a Fault, so JSON, Connect, gRPC-Web
 * and gRPC agree.
 */

import { maskedHead, maskTokens } from './token-mask.ts';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Codes of the framework, with their kind and the phrase that the flat error family prints as `error`. */
const FRAMEWORK_CODES = {
  malformed_request: ['bad_request', 'malformed_request'],
  validation_error: ['invalid', 'validation_error'],
  invalid_cursor: ['invalid', 'invalid_cursor'],
  missing_credentials: ['unauthenticated', 'Unauthorized'],
  invalid_credentials: ['unauthenticated', 'Unauthorized'],
  credential_class_mismatch: ['unauthenticated', 'Unauthorized'],
  project_scope_required: ['unauthenticated', 'Unauthorized'],
  unknown_project: ['unauthenticated', 'Unauthorized'],
  insufficient_permissions: ['permission_denied', 'Forbidden'],
  administrator_required: ['permission_denied', 'Forbidden'],
  api_key_permission_denied: ['permission_denied', 'api_key_permission_denied'],
  origin_not_allowed: ['permission_denied', 'Forbidden'],
  idempotency_error: ['conflict', 'idempotency_error'],
  route_not_found: ['route_not_found', 'Not Found'],
  method_not_allowed: ['method_not_allowed', 'Method Not Allowed'],
  request_timeout: ['request_timeout', 'Request Timeout'],
  payload_too_large: ['payload_too_large', 'Payload Too Large'],
  uri_too_long: ['uri_too_long', 'URI Too Long'],
  headers_too_large: ['headers_too_large', 'Request Header Fields Too Large'],
  expectation_failed: ['expectation_failed', 'Expectation Failed'],
  unsupported_encoding: ['unsupported_media_type', 'Unsupported Media Type'],
  rate_limited: ['rate_limited', 'Too Many Requests'],
  internal_error: ['internal_error', 'Internal server error'],
  unavailable: ['unavailable', 'Service Unavailable'],
} as const;

/** Codes of resources. In the flat family `error` equals the code. */
const RESOURCE_CODES = {
  trace_not_found: 'not_found',
  feedback_limit_reached: 'invalid',
  annotation_not_found: 'not_found',
  annotation_limit_reached: 'invalid',
  annotation_score_not_found: 'not_found',
  annotation_score_name_taken: 'conflict',
  annotation_score_in_use: 'conflict',
  annotation_score_limit_reached: 'invalid',
  annotation_queue_not_found: 'not_found',
  annotation_queue_name_taken: 'conflict',
  annotation_queue_limit_reached: 'invalid',
  annotation_queue_full: 'invalid',
  annotation_queue_empty: 'not_found',
  annotation_queue_item_not_found: 'not_found',
  annotation_queue_item_not_claimed: 'conflict',
  trace_deletion_not_found: 'not_found',
  trace_deletion_limit_reached: 'invalid',
  trace_share_not_found: 'not_found',
  trace_share_limit_reached: 'invalid',
  trace_sharing_off: 'conflict',
  saved_view_not_found: 'not_found',
  saved_view_limit_reached: 'invalid',
  dashboard_not_found: 'not_found',
  dashboard_limit_reached: 'invalid',
  dashboards_unknown: 'bad_request',
  graph_not_found: 'not_found',
  graph_limit_reached: 'invalid',
  invalid_scroll_id: 'bad_request',
  ambiguous_trace_id: 'conflict',
  evaluator_not_found: 'not_found',
  evaluator_limit_reached: 'invalid',
  evaluator_type_immutable: 'bad_request',
  dataset_not_found: 'not_found',
  dataset_version_not_found: 'not_found',
  dataset_limit_reached: 'invalid',
  dataset_too_large: 'invalid',
  experiment_not_found: 'not_found',
  experiment_limit_reached: 'invalid',
  experiment_run_not_found: 'not_found',
  experiment_run_limit_reached: 'invalid',
  experiment_runs_not_comparable: 'invalid',
  evaluator_run_not_found: 'not_found',
  evaluator_run_limit_reached: 'invalid',
  evaluator_not_runnable: 'invalid',
  evaluator_unavailable: 'invalid',
  invalid_data: 'invalid',
  invalid_settings: 'invalid',
  evaluator_missing_field: 'bad_request',
  monitor_not_found: 'not_found',
  monitor_limit_reached: 'invalid',
  trigger_not_found: 'not_found',
  trigger_limit_reached: 'invalid',
  trigger_action_unavailable: 'invalid',
  webhook_event_not_found: 'not_found',
  webhook_endpoint_not_found: 'not_found',
  webhook_delivery_not_found: 'not_found',
  webhook_replay_not_found: 'not_found',
  webhook_endpoint_invalid: 'bad_request',
  webhook_delivery_not_redeliverable: 'bad_request',
  webhook_endpoint_limit: 'conflict',
  webhook_endpoint_disabled: 'conflict',
  webhook_delivery_in_progress: 'conflict',
  too_many_replays: 'conflict',
  api_key_not_found: 'not_found',
  api_key_not_owned: 'permission_denied',
  api_key_scope_violation: 'permission_denied',
  api_key_already_revoked: 'conflict',
  api_key_expired: 'conflict',
  project_not_found: 'not_found',
  project_limit_reached: 'invalid',
  project_name_taken: 'conflict',
  project_key_taken: 'conflict',
  team_not_found: 'not_found',
  team_limit_reached: 'invalid',
  team_name_taken: 'conflict',
  member_not_found: 'not_found',
  member_already_exists: 'conflict',
  member_limit_reached: 'invalid',
  cannot_demote_last_admin: 'conflict',
  cannot_disable_last_admin: 'conflict',
  cannot_remove_last_admin: 'conflict',
  role_binding_not_found: 'not_found',
  role_binding_already_exists: 'conflict',
  role_binding_limit_reached: 'invalid',
  role_binding_is_member_role: 'conflict',
  role_binding_scope_violation: 'permission_denied',
  budget_not_found: 'not_found',
  budget_archived: 'conflict',
  budget_limit_reached: 'invalid',
  price_override_not_found: 'not_found',
  price_override_limit_reached: 'invalid',
  model_provider_not_found: 'not_found',
  model_provider_name_taken: 'conflict',
  model_provider_limit_reached: 'invalid',
  prompt_not_found: 'not_found',
  prompt_version_not_found: 'not_found',
  prompt_handle_taken: 'conflict',
  prompt_not_owned: 'permission_denied',
  prompt_limit_reached: 'invalid',
  prompt_version_limit_reached: 'invalid',
  prompt_tag_not_found: 'not_found',
  prompt_tag_taken: 'conflict',
  prompt_tag_in_use: 'conflict',
  prompt_tag_limit_reached: 'invalid',
  gateway_off: 'conflict',
  system_prompt_required: 'invalid',
  system_prompt_conflict: 'conflict',
  session_not_found: 'not_found',
  key_sign_in_off: 'permission_denied',
  sign_in_invalid: 'bad_request',
  sign_in_refused: 'permission_denied',
  virtual_key_not_found: 'not_found',
  virtual_key_already_revoked: 'conflict',
  virtual_key_external_id_taken: 'conflict',
  virtual_key_limit_reached: 'invalid',
  revision_mismatch: 'conflict',
} as const;

/** The class of a failure; each transport maps every one to a status. */
export type FaultKind =
  /** A message that the protocol forbids; only over RPC. */
  | 'broken_framing'
  | (typeof FRAMEWORK_CODES)[keyof typeof FRAMEWORK_CODES][0]
  | (typeof RESOURCE_CODES)[keyof typeof RESOURCE_CODES];

export type FaultCode = keyof typeof FRAMEWORK_CODES | keyof typeof RESOURCE_CODES;

/** Whether the catalogue has a code. */
export function isFaultCode(text: string): text is FaultCode {
  return Object.hasOwn(FRAMEWORK_CODES, text) || Object.hasOwn(RESOURCE_CODES, text);
}

type FaultOptions = {
  /** Members of the body in camelCase; each error family converts them to its own case. */
  readonly meta?: { readonly [key: string]: JsonValue };
  /** Whole seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** Replaces the `error` text of the flat family for this operation. */
  readonly flatError?: string;
  /** Replaces the kind for an operation that answers another status than the catalogue says. */
  readonly kind?: FaultKind;
  /** Response headers of the refusal, with lower-case names. */
  readonly headers?: { readonly [name: string]: string };
  readonly cause?: unknown;
};

/**
 * An expected failure. Its message is public: what was wrong and what to do. Tokens in the message and the members are
 * masked, in case a caller sent one in a wrong field.
 */
export class Fault extends Error {
  readonly kind: FaultKind;
  readonly code: FaultCode;
  readonly flatError: string;
  readonly meta: { readonly [key: string]: JsonValue };
  readonly retryAfterSeconds: number | null;
  readonly headers: { readonly [name: string]: string };

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    // An expected failure needs no stack trace; capturing one would be most of the cost of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(maskTokens(message), options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    const [kind, flatError] =
      code in FRAMEWORK_CODES
        ? FRAMEWORK_CODES[code as keyof typeof FRAMEWORK_CODES]
        : [RESOURCE_CODES[code as keyof typeof RESOURCE_CODES], code];
    this.kind = options.kind ?? kind;
    this.code = code;
    this.flatError = options.flatError === undefined ? flatError : maskTokens(options.flatError);
    this.meta = maskMembers(options.meta ?? {});
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
  }
}

/** The value with tokens masked in every text. Names of members are kept: they come from this program. */
export function maskInside(value: JsonValue): JsonValue {
  if (typeof value === 'string') return maskTokens(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? value.map(maskInside) : maskMembers(value);
}

function maskMembers(members: { readonly [name: string]: JsonValue }): { [name: string]: JsonValue } {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, maskInside(value)]));
}

/** One problem of one field of a request. */
export type Reason = {
  /** Dotted path with array indexes as segments; `(root)` for the whole document. */
  readonly field: string;
  readonly type:
    | 'invalid_type'
    | 'too_small'
    | 'too_big'
    | 'invalid_length'
    | 'invalid_format'
    | 'invalid_enum_value'
    | 'custom';
  readonly message: string;
  readonly expected?: JsonValue;
  readonly received?: string;
};

/** Problems that one answer lists; code that collects problems may stop there. */
export const REASONS_MAX = 20;
// A path consists of names from the request, which may be as long as the body.
const SHOWN_CHARACTERS_MAX = 500;

/** All problems of one request together, at most 20. */
export function validationFault(target: 'json' | 'query' | 'param' | 'header', reasons: readonly Reason[]): Fault {
  const listed = reasons.slice(0, REASONS_MAX).map(cutReason);
  const what = { json: 'request body', query: 'query', param: 'path', header: 'request header' }[target];
  return new Fault(
    'validation_error',
    `The ${what} is invalid: ${listed.map((reason) => reason.message).join('; ')}.`,
    {
      meta: {
        target,
        fields: [...new Set(listed.map((reason) => reason.field))],
        reasons: listed.map((reason) => ({ code: 'schema_failure', message: reason.message, meta: { ...reason } })),
      },
    },
  );
}

function cutReason(reason: Reason): Reason {
  return { ...reason, field: cut(reason.field), message: cut(reason.message) };
}

function cut(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${maskedHead(text, SHOWN_CHARACTERS_MAX)}…`;
}

/** The Fault for a store, queue or process that is overloaded. */
export function unavailableFault(message: string, retryAfterSeconds: number, cause?: unknown): Fault {
  return new Fault('unavailable', message, { retryAfterSeconds, ...(cause === undefined ? {} : { cause }) });
}

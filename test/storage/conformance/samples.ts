/** Complete, plausible values for all inputs of the port. */

import { randomBytes } from 'node:crypto';
import type { Evaluator } from '../../../src/domain/evaluators/evaluator.ts';
import type { Bootstrap } from '../../../src/domain/management/management-port.ts';
import type { Monitor } from '../../../src/domain/monitors/monitor.ts';
import type { Evaluation, Span, SpanRequest, TraceAppend } from '../../../src/domain/traces/trace.ts';
import type { NewKey } from '../../support/insert-key.ts';

export const RECEIVED_AT_MS = 1_790_000_000_000;
export const ORGANIZATION = { id: 'organization_1', number: 1 } as const;
export const PROJECT = { id: 'project_1', number: 1 } as const;

export function randomHex(digits: number): string {
  return randomBytes(digits / 2).toString('hex');
}

/** An llm span with all members set. */
export function sampleSpan(changes: Partial<Span> = {}): Span {
  return {
    spanId: randomHex(16),
    parentId: randomHex(16),
    type: 'llm',
    name: 'chat',
    vendor: 'openai',
    model: 'gpt-5',
    startedAtMs: RECEIVED_AT_MS - 2000,
    finishedAtMs: RECEIVED_AT_MS - 500,
    firstTokenAtMs: RECEIVED_AT_MS - 1700,
    startedNs: -500_000,
    finishedNs: 499_999,
    inputJson: '{"type":"chat_messages","value":[{"role":"user","content":"Say hi.","function_call":null}]}',
    outputJson: '{"type":"text","value":"Hi \\u0000 \\u2028 😀"}',
    paramsJson: '{"temperature":0.7,"big":12345678901234567890}',
    cachedTokensInPrompt: true,
    otherMetricsJson: '{"retries":2}',
    promptTokens: 100,
    completionTokens: 150,
    reasoningTokens: 7,
    cacheReadInputTokens: 11,
    cacheCreationInputTokens: 0,
    costNanoUsd: 9_007_199_254_740_991,
    costSource: 'registry',
    callRow: 281_474_976_710_655,
    totalInput: 111,
    totalOutput: 157,
    shareRates: null,
    tokensEstimated: true,
    errorJson: null,
    contextsJson: '[{"document_id":"d","chunk_id":null,"content":"c"}]',
    telemetryJson: '{"attributes":{"a.b":1},"kind":"SPAN_KIND_CLIENT"}',
    ...changes,
  };
}

/** A span with only the required members. */
export function bareSpan(changes: Partial<Span> = {}): Span {
  return {
    spanId: randomHex(16),
    parentId: null,
    type: 'span',
    name: null,
    vendor: null,
    model: null,
    startedAtMs: RECEIVED_AT_MS - 2000,
    finishedAtMs: RECEIVED_AT_MS - 500,
    firstTokenAtMs: null,
    startedNs: null,
    finishedNs: null,
    inputJson: null,
    outputJson: null,
    paramsJson: null,
    cachedTokensInPrompt: null,
    otherMetricsJson: null,
    promptTokens: null,
    completionTokens: null,
    reasoningTokens: null,
    cacheReadInputTokens: null,
    cacheCreationInputTokens: null,
    costNanoUsd: null,
    costSource: null,
    callRow: 0,
    totalInput: null,
    totalOutput: null,
    shareRates: null,
    tokensEstimated: false,
    errorJson: null,
    contextsJson: null,
    telemetryJson: null,
    ...changes,
  };
}

export function sampleRequest(changes: Partial<SpanRequest> = {}): SpanRequest {
  return {
    spanIndex: 0,
    gatewayRequestId: `req_${randomHex(30)}`,
    requestType: 'chat',
    errorClass: null,
    httpStatus: null,
    rateVersion: 'registry@2026-07-01',
    ...changes,
  };
}

export function sampleEvaluation(changes: Partial<Evaluation> = {}): Evaluation {
  return {
    evaluationId: `evaluation_${randomHex(8)}`,
    evaluatorId: 'customeval_tone',
    name: 'tone',
    type: 'custom',
    spanId: randomHex(16),
    threadId: 'thread-7',
    isGuardrail: true,
    status: 'processed',
    passed: false,
    score: 0.25,
    label: 'rude',
    details: 'said no',
    errorJson: '{"has_error":true,"message":"m","stacktrace":[]}',
    inputsJson: '{"input":[1,2]}',
    costJson: '{"currency":"USD","amount":0.1}',
    monitorId: 'monitor_1',
    insertedAtMs: RECEIVED_AT_MS,
    startedAtMs: RECEIVED_AT_MS - 10,
    finishedAtMs: RECEIVED_AT_MS - 5,
    ...changes,
  };
}

/** An append of one llm span with its request, unless `changes` says otherwise. */
export function sampleAppend(changes: Partial<TraceAppend> = {}): TraceAppend {
  return {
    projectId: PROJECT.id,
    projectNumber: PROJECT.number,
    organizationId: ORGANIZATION.id,
    organizationNumber: ORGANIZATION.number,
    traceId: randomHex(32),
    receivedAtMs: RECEIVED_AT_MS,
    expiredBeforeMs: null,
    spansMax: 100_000,
    metadataJson: '{"user_id":"user-42","labels":["production"]}',
    expectedOutput: undefined,
    spans: [sampleSpan()],
    evaluations: [],
    requests: [sampleRequest()],
    ...changes,
  };
}

export function sampleEvaluator(changes: Partial<Evaluator> = {}): Evaluator {
  return {
    id: `evaluator_${randomHex(20)}`,
    projectId: PROJECT.id,
    name: "Is it polite? It's a question",
    slug: 'is-it-polite-abcde',
    type: 'evaluator',
    configJson: '{"evaluatorType":"langevals/llm_boolean","settings":{"prompt":"a \\" ? \' {x} $1 :a ??"}}',
    workflowId: null,
    workflowName: null,
    workflowIcon: null,
    copiedFromEvaluatorId: null,
    fields: [{ identifier: 'input', type: 'str', optional: true }],
    outputFields: [{ identifier: 'passed', type: 'bool', optional: false }],
    createdAtMs: RECEIVED_AT_MS,
    updatedAtMs: RECEIVED_AT_MS + 1,
    ...changes,
  };
}

export function sampleMonitor(
  { projectId, id: evaluatorId }: Pick<Evaluator, 'projectId' | 'id'>,
  changes: Partial<Monitor> = {},
): Monitor {
  return {
    id: `monitor_${randomHex(20)}`,
    projectId,
    name: 'ActiveMonitors it',
    slug: 'watch-it-abcde',
    evaluatorId,
    checkType: 'langevals/llm_boolean',
    enabled: true,
    sample: 1,
    preconditions: [],
    mappings: {},
    parametersJson: '{}',
    executionMode: 'ON_MESSAGE',
    createdAtMs: RECEIVED_AT_MS,
    updatedAtMs: RECEIVED_AT_MS + 1,
    ...changes,
  };
}

/** A bootstrap plan with unique names. */
export function samplePlan(): Bootstrap {
  const mark = randomHex(8);
  return {
    verifier: randomBytes(32),
    createdAtMs: RECEIVED_AT_MS,
    organization: { id: `organization_${mark}`, name: "O'Brien & Söhne", slug: `obrien-${mark}` },
    team: { id: `team_${mark}`, name: 'Team', slug: `team-${mark}` },
    project: {
      id: `project_${mark}`,
      name: 'Project',
      slug: `project-${mark}`,
      keyHash: randomBytes(32),
      keyHint: 'abcd',
      keyImported: false,
    },
    member: {
      userId: `user_${mark}`,
      email: 'admin@localhost',
      name: 'Administrator',
      bindingId: `rolebinding_${mark}`,
    },
    apiKey: {
      id: `key${mark}`.padEnd(16, '0'),
      name: 'Bootstrap admin key',
      bindingId: `rolebinding_${mark}k`,
      secretHash: randomBytes(32),
      imported: false,
    },
    auditId: `audit_${mark}`,
  };
}

export function sampleKey(plan: Bootstrap, changes: Partial<NewKey> = {}): NewKey {
  return {
    id: randomHex(16),
    organizationId: plan.organization.id,
    keyType: 'personal',
    name: 'a key',
    userId: plan.member.userId,
    createdByUserId: plan.member.userId,
    permissionMode: 'restricted',
    secretHash: randomBytes(32),
    imported: false,
    expiresAtMs: null,
    createdAtMs: RECEIVED_AT_MS,
    bindings: [
      {
        id: `rolebinding_${randomHex(8)}`,
        role: 'CUSTOM',
        scopeType: 'PROJECT',
        scopeId: plan.project.id,
        permissions: ['traces:view', 'traces:create'],
      },
    ],
    ...changes,
  };
}

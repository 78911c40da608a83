import { expect, it } from 'vitest';
import { createAnswerReader } from '../../../../src/domain/gateway/dialects/answer-reader.ts';
import { errorBody, streamErrorEvent } from '../../../../src/domain/gateway/dialects/gateway-error.ts';

const ERROR = { code: 'some_code', message: 'A sentence with "quotes".', param: 'model' };

it.each([
  [400, 'invalid_request_error', 'invalid_request_error'],
  [401, 'invalid_request_error', 'authentication_error'],
  [402, 'insufficient_quota', 'billing_error'],
  [403, 'invalid_request_error', 'permission_error'],
  [404, 'invalid_request_error', 'not_found_error'],
  [413, 'invalid_request_error', 'request_too_large'],
  [429, 'rate_limit_error', 'rate_limit_error'],
  [500, 'server_error', 'api_error'],
  [502, 'server_error', 'api_error'],
  [503, 'server_error', 'overloaded_error'],
  [504, 'server_error', 'timeout_error'],
])('status %i has the type of each dialect', (httpStatus, openAi, anthropic) => {
  expect(JSON.parse(errorBody('openai', { httpStatus, ...ERROR }))).toEqual({ error: { type: openAi, ...ERROR } });
  expect(JSON.parse(errorBody('anthropic', { httpStatus, ...ERROR }))).toEqual({
    type: 'error',
    error: { type: anthropic, ...ERROR },
  });
});

it('details stand beside the members of the dialect, and replace none', () => {
  const details = { budget_id: 'b1', dimension: 'rpm', type: 'other', message: 'other' };
  const error = { httpStatus: 402, code: 'budget_exceeded', message: 'Spent.', param: null, details };
  expect(JSON.parse(errorBody('openai', error)).error).toEqual({
    ...{ budget_id: 'b1', dimension: 'rpm', type: 'insufficient_quota' },
    ...{ message: 'Spent.', param: null, code: 'budget_exceeded' },
  });
  expect(JSON.parse(errorBody('anthropic', error)).error).toEqual({
    ...{ budget_id: 'b1', dimension: 'rpm', type: 'billing_error', message: 'Spent.', code: 'budget_exceeded' },
  });
});

it.each([
  ['chat', /^data: \{"error":\{/, 'server_error'],
  ['responses', /^event: error\ndata: \{"type":"error",.*"error":\{/, 'server_error'],
  ['messages', /^event: error\ndata: \{"type":"error","error":\{/, 'api_error'],
] as const)('a stream of %s ends with an error that its readers know', (route, shape, type) => {
  const event = streamErrorEvent(route, { code: 'upstream_mid_stream_failure', message: 'The provider broke off.' });
  expect(event.toString()).toMatch(shape);
  expect(event.toString()).toMatch(/[^\n]\n\n$/);
  const reader = createAnswerReader({
    route,
    isStreamed: true,
    hidesUsage: false,
    captures: false,
    holdMemory: () => true,
  });
  reader.read(event);
  expect(reader.facts()).toMatchObject({ error: { type, message: 'The provider broke off.' }, isComplete: false });
});

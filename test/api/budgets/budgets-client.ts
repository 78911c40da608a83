/** Calls the service of budgets over REST and gRPC, and reports what they count. */

import { getOption } from '@bufbuild/protobuf';
import { expect } from 'vitest';
import { BudgetService } from '../../../gen/spandrel/v1/budgets_pb.js';
import { policy } from '../../../gen/spandrel/v1/options_pb.js';
import type { TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';
import { ask, type Question, type Surface } from '../access/question.ts';
import { bearer } from '../organization/organization-client.ts';

export type Operation = keyof typeof BudgetService.method;
type Sent = Pick<Question, 'query' | 'headers'> & {
  readonly body?: Body;
  readonly id?: string;
  readonly token?: string;
  /** For example "404 budget_not_found"; a success by default. */
  readonly wanted?: string;
};

export const BUDGET = { name: 'Team', scope: { kind: 'organization' }, window: 'month', limit_usd: '100' };

/** Returns the body of a success, or its error; fails on any other answer. */
export async function invoke(
  app: TestApp,
  [surface, operation]: readonly [Surface, Operation],
  sent: Sent = {},
): Promise<Body> {
  const { id, token = app.adminKey, wanted, ...question } = sent;
  const method = BudgetService.method[operation];
  const [status = getOption(method, policy).successStatus, code = null] = wanted?.split(' ') ?? [];
  const { body, ...answered } = await ask(
    surface,
    { ...question, method, parameters: id === undefined ? {} : { id } },
    { address: app.address, token, wanted: { status: Number(status), code } },
  );
  const said = { operation, surface, ...answered };
  expect(said, JSON.stringify(body)).toEqual({ operation, surface, status: Number(status), code });
  return code === null ? body : (body.error ?? body);
}

export async function makeBudget(app: TestApp, fields: Body = {}): Promise<Body> {
  return (await invoke(app, ['REST', 'createBudget'], { body: { ...BUDGET, ...fields } })).budget;
}

/** Reports successful requests of the first project, at the given instant. */
export async function reportRequests(app: TestApp, occurredAtMs: number, records: readonly Body[]): Promise<void> {
  const common = { status: 'success', occurred_at: occurredAtMs, project_id: app.projectId };
  const body = { records: records.map((record) => ({ ...common, ...record })) };
  const headers = bearer(app.adminKey);
  const answer = await callRest(app.address, { verb: 'POST', path: '/api/gateway/v1/requests', headers, body });
  expect(answer.body).toEqual({ accepted: records.length, rejected: [] });
}

/** Runs all producers of an organization's events concurrently. */

import { expect } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { governance, governanceOf, recordOf, reportOf } from './conformance/reports.ts';
import { RECEIVED_AT_MS, sampleAppend, sampleRequest } from './conformance/samples.ts';

export const ROUNDS = 20;
const OVERDUE = { kind: 'settlement', admittedByMs: RECEIVED_AT_MS, countMax: 3 } as const;

/** Runs all producers at once; some of their reports change nothing. */
export async function reportEverything(stores: readonly Store[]): Promise<void> {
  const signals = stores.flatMap((store) =>
    Array.from({ length: ROUNDS }, (_, index) => {
      const gatewayRequestId = `gw-${index}`;
      return [
        store.requests.report(reportOf([recordOf('admitted', { gatewayRequestId })])),
        store.requests.report(reportOf([recordOf('error', { gatewayRequestId })])),
        store.requests.settle(OVERDUE),
        store.requests.report(reportOf([recordOf('success', { gatewayRequestId })])),
        store.requests.reportGovernance(governanceOf([governance(`a-${index}`), governance(`b-${index % 3}`)])),
        store.traces.append(sampleAppend({ requests: [sampleRequest({ gatewayRequestId: `span-${index}` })] })),
      ];
    }),
  );
  await Promise.all(signals.flat());
}

export function expectOrder(rows: readonly { readonly seq: number; readonly created: number }[]): void {
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  const created = rows.map((row) => row.created);
  expect(created).toEqual(created.toSorted((a, b) => a - b));
}

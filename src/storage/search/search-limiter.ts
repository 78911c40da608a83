/** Bounds how many searches run and wait at once, and how many of them are of one tenant. */

import { type Fault, unavailableFault } from '../../domain/fault.ts';

type Limits = { readonly runningMax: number; readonly waitingMax: number };
type Tenant = number | string;
type Waiting = { readonly tenant: Tenant; readonly start: () => void };

const ALL: Limits = { runningMax: 4, waitingMax: 64 };
/** So that no tenant can hold all places. */
const OF_TENANT: Limits = { runningMax: 2, waitingMax: 16 };
const RETRY_AFTER_SECONDS = 1;

/** The same search, which rejects with the unavailable Fault when too much is waiting already. */
export function limitSearches<Question extends { readonly projectNumber: number }, Found>(
  find: (question: Question) => Promise<Found>,
): (question: Question) => Promise<Found> {
  return limitReads(find, ({ projectNumber }) => projectNumber);
}

/** The same of any long read; `tenantOf` says whose it is. */
export function limitReads<Question, Found>(
  read: (question: Question) => Promise<Found>,
  tenantOf: (question: Question) => Tenant,
): (question: Question) => Promise<Found> {
  const running: Tenant[] = [];
  const waiting: Waiting[] = [];

  function mayRun(tenant: Tenant): boolean {
    const count = running.filter((each) => each === tenant).length;
    return running.length < ALL.runningMax && count < OF_TENANT.runningMax;
  }

  async function begin(tenant: Tenant): Promise<void> {
    if (mayRun(tenant)) {
      running.push(tenant);
      return;
    }
    const count = waiting.filter((each) => each.tenant === tenant).length;
    if (count >= OF_TENANT.waitingMax) throw refusal('Too many searches of this project at once; try again.');
    if (waiting.length >= ALL.waitingMax) throw refusal('Too many searches at once; try again.');
    await new Promise<void>((start) => waiting.push({ tenant, start }));
  }

  function end(tenant: Tenant): void {
    running.splice(running.indexOf(tenant), 1);
    const index = waiting.findIndex((each) => mayRun(each.tenant));
    const [next] = index === -1 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    // Its place is taken at once, before anybody who comes meanwhile.
    running.push(next.tenant);
    next.start();
  }

  return async (question) => {
    const tenant = tenantOf(question);
    await begin(tenant);
    try {
      return await read(question);
    } finally {
      end(tenant);
    }
  };
}

function refusal(message: string): Fault {
  return unavailableFault(message, RETRY_AFTER_SECONDS);
}

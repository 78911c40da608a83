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
  return limitReads(find, ({ projectNumber }) => projectNumber, SEARCHES);
}

/** How they are called where they are refused. */
type Names = { readonly all: string; readonly ofTenant: string };

const SEARCHES: Names = { all: 'searches', ofTenant: 'searches of this project' };
const SUMS: Names = { all: 'sums', ofTenant: 'sums of this organization' };
const RUNS: Names = { all: 'reads of runs', ofTenant: 'reads of runs of this project' };

/** The same of any long read; `tenantOf` says whose it is. */
function limitReads<Question, Found>(
  read: (question: Question) => Promise<Found>,
  tenantOf: (question: Question) => Tenant,
  names: Names,
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
    if (count >= OF_TENANT.waitingMax) throw refusal(`Too many ${names.ofTenant} at once; try again.`);
    if (waiting.length >= ALL.waitingMax) throw refusal(`Too many ${names.all} at once; try again.`);
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

/** Sums of spend, for each of the tenants. */
export function limitSums<Question extends { readonly organizationNumber: number }, Answer>(
  sum: (question: Question) => Promise<Answer>,
): (question: Question) => Promise<Answer> {
  return limitReads(sum, ({ organizationNumber }) => organizationNumber, SUMS);
}

/** What runs of experiments come to; `projectOf` says in which project. */
export function limitRuns<Question, Answer>(
  read: (question: Question) => Promise<Answer>,
  projectOf: (question: Question) => string | number,
): (question: Question) => Promise<Answer> {
  return limitReads(read, projectOf, RUNS);
}

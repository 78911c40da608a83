/** The sources of all statements, by room. `append` also has statements of one store alone. */

import * as analytics from '../analytics/queries.ts';
import * as annotations from '../annotations/queries.ts';
import * as annotationQueues from '../annotations/queries-queues.ts';
import * as answers from '../answers/queries.ts';
import * as append from '../append/queries.ts';
import * as budgets from '../budgets/queries.ts';
import * as endpoints from '../endpoints/queries.ts';
import * as endpointsAhead from '../endpoints/queries-ahead.ts';
import * as endpointsChanges from '../endpoints/queries-changes.ts';
import * as endpointsDue from '../endpoints/queries-due.ts';
import * as endpointsWork from '../endpoints/queries-work.ts';
import * as evaluations from '../evaluations/queries.ts';
import * as events from '../events/queries.ts';
import * as feedback from '../feedback/queries.ts';
import * as keys from '../keys/queries.ts';
import * as monitors from '../monitors/queries.ts';
import * as organization from '../organization/queries.ts';
import * as pricing from '../pricing/queries.ts';
import * as retention from '../retention/queries.ts';
import * as search from '../search/queries.ts';
import * as searchIndex from '../search/queries-index.ts';
import * as spend from '../spend/queries.ts';
import * as traces from '../traces/queries.ts';
import * as logRecords from '../traces/queries-log-records.ts';
import type { Compiled } from './statement.ts';

/** Those that are used in the same way on every store. */
const ROOMS = {
  ...{
    analytics,
    answers,
    budgets,
    endpoints,
    endpointsAhead,
    endpointsChanges,
    endpointsDue,
    endpointsWork,
    evaluations,
  },
  ...{ events, keys, logRecords, monitors, organization, pricing, retention, search, searchIndex, spend },
  ...{ traces, feedback, annotations, annotationQueues },
};

export const SOURCES = { ...ROOMS, append };

/** The statements that every store has under the same names. */
export type Queries = {
  readonly [Room in keyof typeof ROOMS]: {
    readonly [Name in keyof (typeof ROOMS)[Room]]: Compiled<(typeof ROOMS)[Room][Name]>;
  };
};

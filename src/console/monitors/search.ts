/** The search parameters of the monitor page. */

import { SCORES } from '../evaluations/search.ts';
import { oneOf } from '../layout/search.ts';
import { rangeReaderOf } from '../traces/range.ts';

export const readMonitorSearch = rangeReaderOf({ ...SCORES, tab: oneOf('settings') });

/** The search parameters of the monitor page. */

import { readScoreSearch, type ScoreSearch } from '../evaluations/search.ts';

export type MonitorSearch = ScoreSearch & { readonly tab?: 'settings' };

export function readMonitorSearch(raw: Record<string, unknown>): MonitorSearch {
  return { ...(raw.tab === 'settings' && { tab: raw.tab }), ...readScoreSearch(raw) };
}

// Compiled from src/storage/analytics/queries-evaluations.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/analytics/queries-evaluations.ts';

export const findTraceBehind: Compiled<typeof source.findTraceBehind> = {
  name: 'analytics-evaluations.findTraceBehind',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\" from \"traces\" where \"traces\".\"project_number\" = ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= ? and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") > (?, ?) order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\" limit ? offset ?",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, 1, params.count],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
  }),
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'analytics-evaluations.listEvaluations',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\" from \"traces\" cross join \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" and \"traces\".\"project_number\" = ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= ? and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= ? and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\") > (?, ?, ?) and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") <= (?, ?) and \"traces\".\"inserted_at\" >= ? order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\" limit ?",
  cells: (params) => [params.projectNumber, params.afterMs, params.lastMs, params.afterMs, params.afterSequence, params.afterId, params.lastMs, params.lastSequence, params.receivedFromMs, params.limit],
  row: (row: any) => ({
    startMs: row[0],
    sequence: row[1],
    evaluationId: row[2],
    evaluatorId: row[3],
    label: row[4],
    monitorId: row[5],
    status: row[6],
    passed: row[7] === null ? null : row[7] === 1,
    score: row[8],
  }),
};

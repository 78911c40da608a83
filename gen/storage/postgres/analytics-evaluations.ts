// Compiled from src/storage/analytics/queries-evaluations.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/analytics/queries-evaluations.ts';

export const findTraceBehind: Compiled<typeof source.findTraceBehind> = {
  name: 'analytics-evaluations.findTraceBehind',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\" from \"traces\" where \"traces\".\"project_number\" = $1 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= $2 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= $3 and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") > ($4, $5) order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\" limit $6 offset $7",
  cells: (params) => [params.projectNumber, params.toMs, params.afterMs, params.afterMs, params.afterSequence, 1, params.count],
  row: (row) => row,
};

export const listEvaluations: Compiled<typeof source.listEvaluations> = {
  name: 'analytics-evaluations.listEvaluations',
  text: "select coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") as \"startMs\", \"traces\".\"sequence\" as \"sequence\", \"evaluations\".\"evaluation_id\" as \"evaluationId\", \"evaluations\".\"evaluator_id\" as \"evaluatorId\", \"evaluations\".\"label\" as \"label\", \"evaluations\".\"monitor_id\" as \"monitorId\", \"evaluations\".\"status\" as \"status\", \"evaluations\".\"passed\" as \"passed\", \"evaluations\".\"score\" as \"score\" from \"traces\" cross join \"evaluations\" where \"evaluations\".\"project_number\" = \"traces\".\"project_number\" and \"evaluations\".\"trace_sequence\" = \"traces\".\"sequence\" and \"traces\".\"project_number\" = $1 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") >= $2 and coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\") <= $3 and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\") > ($4, $5, $6) and (coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\") <= ($7, $8) and \"traces\".\"inserted_at\" >= $9 order by coalesce(\"traces\".\"started_at\", \"traces\".\"inserted_at\"), \"traces\".\"sequence\", \"evaluations\".\"evaluation_id\" limit $10",
  cells: (params) => [params.projectNumber, params.afterMs, params.lastMs, params.afterMs, params.afterSequence, params.afterId, params.lastMs, params.lastSequence, params.receivedFromMs, params.limit],
  row: (row) => row,
};

// Compiled from src/storage/evaluators/queries.ts by `npm run gen`: change it there.

import type { Compiled } from '../../../src/storage/queries.ts';
import type * as source from '../../../src/storage/evaluators/queries.ts';

export const lockLive: Compiled<typeof source.lockLive> = {
  name: 'evaluators.lockLive',
  text: "select \"id\" as \"id\" from \"evaluators\" where \"project_id\" = $1 and \"id\" = $2 and \"deleted_at\" is null for update",
  cells: (params) => [params.projectId, params.id],
  row: (row) => row,
};

import { shareBackfillCases } from './share-backfill-cases.ts';

shareBackfillCases();

import { createPostgresTestDatabase } from '../support/test-database.ts';
import { budgetKillCases } from './budget-kill-cases.ts';

budgetKillCases(createPostgresTestDatabase, 2);

import { createTestDatabase } from '../support/test-database.ts';
import { budgetKillCases } from './budget-kill-cases.ts';

budgetKillCases(createTestDatabase, 1);

import { createTestDatabase } from '../support/test-database.ts';
import { budgetProxyCases } from './budget-proxy-cases.ts';

budgetProxyCases(createTestDatabase, 1);

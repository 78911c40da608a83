import { createPostgresTestDatabase } from '../support/test-database.ts';
import { budgetProxyCases } from './budget-proxy-cases.ts';

budgetProxyCases(createPostgresTestDatabase, 2);

import { createPostgresTestDatabase } from '../support/test-database.ts';
import { gatewayKillCases } from './gateway-kill-cases.ts';

gatewayKillCases(createPostgresTestDatabase);

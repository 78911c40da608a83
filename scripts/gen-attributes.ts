/** Writes docs/attributes.md, or the same page into a given folder, from the tables that read spans of OpenTelemetry. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAttributesPage } from './attributes-page.ts';

writeFileSync(join(process.argv[2] ?? '.', 'docs/attributes.md'), writeAttributesPage());

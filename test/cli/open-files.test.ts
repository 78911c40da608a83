import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { openFilesLimit, openFilesWarning } from '../../src/cli/open-files.ts';
import { readConfig } from '../../src/config/config.ts';

it('a limit of open files below what the settings allow is warned about by its numbers', () => {
  expect(openFilesWarning(readConfig({}), 4096)).toMatch(/may open 4096 files .* allow about 13548: .*LimitNOFILE/);
  expect(
    openFilesWarning(readConfig({ SPANDREL_MAX_CONNECTIONS: '500', SPANDREL_WEBHOOK_CONCURRENCY: '16' }), 4096),
  ).toBe(null);
  expect(openFilesWarning(readConfig({}), Number.POSITIVE_INFINITY)).toBe(null);
});

it.runIf(process.platform === 'linux')('the limit is that of the process', () => {
  expect(openFilesLimit()).toBeGreaterThan(0);
  const script = `import('${new URL('../../src/cli/open-files.ts', import.meta.url).href}').then((m) => console.log(m.openFilesLimit()))`;
  const command = `ulimit -n 300; exec "$0" -e "$1"`;
  expect(execFileSync('sh', ['-c', command, process.execPath, script]).toString().trim()).toBe('300');
});

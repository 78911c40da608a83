import { enableCompileCache } from 'node:module'; enableCompileCache('/tmp/spike/cc2'); await import('./zz-rss.ts');

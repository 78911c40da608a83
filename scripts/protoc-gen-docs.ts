/** A plugin of buf: writes what people and programs read about REST from the contract and its options. */

import { createEcmaScriptPlugin, runNodeJs } from '@bufbuild/protoplugin';
import { writeDocument } from './openapi/document.ts';
import { writeRestPage } from './rest-page.ts';

runNodeJs(
  createEcmaScriptPlugin({
    name: 'protoc-gen-docs',
    version: 'v1',
    generateTs({ files, generateFile }) {
      const ours = files.filter(({ proto }) => proto.package === 'spandrel.v1');
      generateFile('gen/openapi.json').print(JSON.stringify(writeDocument(ours), null, 1));
      generateFile('docs/rest.md').print(writeRestPage(ours));
    },
  }),
);

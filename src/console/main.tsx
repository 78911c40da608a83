import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import './design/base.css';
import { takeKeyFromAddress, watchAddressForKey } from './session/key.ts';

takeKeyFromAddress();
watchAddressForKey();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  );
}

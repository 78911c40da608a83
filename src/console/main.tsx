import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import './design/base.css';
import { moveKeyFromAddress, watchAddressForKey } from './session/key.ts';

moveKeyFromAddress();
watchAddressForKey();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  );
}

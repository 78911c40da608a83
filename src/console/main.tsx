import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import './design/base.css';
import { takeKeyFromAddress } from './session/key.ts';

const offeredKey = takeKeyFromAddress();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Console offeredKey={offeredKey} />
    </StrictMode>,
  );
}

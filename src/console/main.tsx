import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import './design/base.css';
import { startTheme } from './design/theme.ts';
import { watchTyping } from './session/connection.ts';
import { takeKeyFromAddress } from './session/key.ts';

startTheme();
watchTyping();
const offeredKey = takeKeyFromAddress();
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Console offeredKey={offeredKey} />
    </StrictMode>,
  );
}

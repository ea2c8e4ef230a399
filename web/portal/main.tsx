import { start } from '../app/start.tsx';
import { takeFragment } from '../app/take-fragment.ts';
import { PortalApp } from './portal-app.tsx';

const fragment = takeFragment();

start(<PortalApp token={new URLSearchParams(fragment).get('token')} />);

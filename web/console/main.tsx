import { ConsoleApp } from './console-app.tsx';
import { start } from '../app/start.tsx';

start(<ConsoleApp />);

// The monitor pages, in one file that is loaded when one of them is opened.
import type { ComponentType } from 'preact';
import '../frame';
import Alarms from './alarm';
import Monitor from './monitor';
import Traffic from './traffic';

export const watching: Record<string, ComponentType> = { monitor: Monitor, alarms: Alarms, traffic: Traffic };

// Modules that several page files need. Each page imports this file, so that the bundler
// puts them into one file. One file for each combination of pages would take more requests.
import './follow';
import './http';
import './label/api';
import './number';
import './pages/alignment';
import './pages/difference';
import './pages/figures';
import './pages/filters';
import './pages/heading';
import './pages/items';
import './pages/pair';
import './pages/storedset';
import './pages/table';
import './pages/verdict';
import './parts/actions';
import './parts/rate';
import './parts/states';
import './run/assertion';
import './run/keys';
import './run/output';
import './run/texts';

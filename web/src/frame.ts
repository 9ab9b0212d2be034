// What several files of pages need. Each of them imports it, so that the bundler puts all of
// it into one file: a file for each combination of pages would take more requests.
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

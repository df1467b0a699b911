/* Stores of one writer that others do not see yet, in the order of its program. They reach memory in any order, but
   those of one place among themselves, and a release store after all before it. `FENCE` waits for all of them. */
byte cell[PLACES];
byte place[MOST], value[MOST], n = 0;
bool releases[MOST];

inline store(where, what, with_release) {
    d_step { place[n] = where; value[n] = what; releases[n] = with_release; n++ }
}

inline fence() { (n == 0) }

active proctype reordering() {
    byte i, k;
    bool may;
end:
    do
    :: atomic {
        n > 0 -> select(i : 0 .. n - 1);
        d_step {
            may = true; k = 0;
            do
            :: k < i -> if :: releases[i] || place[k] == place[i] -> may = false :: else fi; k++
            :: else -> break
            od;
            if
            :: may ->
                cell[place[i]] = value[i]; k = i;
                do
                :: k + 1 < n -> place[k] = place[k + 1]; value[k] = value[k + 1]; releases[k] = releases[k + 1]; k++
                :: else -> break
                od;
                n--; place[n] = 0; value[n] = 0; releases[n] = false
            :: else
            fi;
            i = 0; k = 0; may = false
        }
    }
    od
}

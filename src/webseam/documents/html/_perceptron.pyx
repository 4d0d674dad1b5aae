# cython: boundscheck=False, wraparound=False
"""`perceptron.run_in_python`, compiled: the same sums in the same order, several outputs side by side.

Nothing checks an index here: `Network` checks that its own parts fit one another, and `probabilities` that the rows do.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport exp

from array import array

cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>

    /* With glibc, the same code is made for two kinds of processors, and the better is taken when it runs. No sum is reordered
       and no product fused (-ffp-contract=off), so both give the same answer. */
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    #define WEBSEAM_CLONES __attribute__((target_clones("avx2", "default")))
    #else
    #define WEBSEAM_CLONES
    #endif

    #if defined(__GNUC__)
    typedef double webseam_four __attribute__((vector_size(32), aligned(8)));

    #define WEBSEAM_GROUP(FOURS) \\
        for (; output + 4 * FOURS <= outputs; output += 4 * FOURS) { \\
            webseam_four sum[FOURS]; \\
            for (int part = 0; part < FOURS; part++) sum[part] = *(const webseam_four *)(start + output + 4 * part); \\
            for (long place = 0; place < count; place++) { \\
                const double *row = weights + places[place] * outputs + output; \\
                double value = values[place]; \\
                webseam_four same = {value, value, value, value}; \\
                for (int part = 0; part < FOURS; part++) sum[part] += same * *(const webseam_four *)(row + 4 * part); \\
            } \\
            for (int part = 0; part < FOURS; part++) *(webseam_four *)(sums + output + 4 * part) = sum[part]; \\
        }
    #endif

    /* Row by row: what inputs other than 0 add to the usual, and where they stand. Returns how many. */
    WEBSEAM_CLONES static long webseam_unusual(
        const double *row, long width, const double *mean, const double *scale, const double *usual, double clipped,
        double *values, long *places
    ) {
        long many = 0;
        for (long place = 0; place < width; place++) {
            double value = (row[place] - mean[place]) * scale[place];
            value = value < -clipped ? -clipped : value;
            value = value > clipped ? clipped : value;
            values[place] = value - usual[place];
        }
        for (long place = 0; place < width; place++) {
            values[many] = values[place];
            places[many] = place;
            many += row[place] != 0.0;
        }
        return many;
    }

    /* sums[output] = start[output] + values[0] * weights[places[0]][output] + values[1] * ..., for each output. */
    WEBSEAM_CLONES static void webseam_add_up(
        const double *values, const long *places, long count, const double *weights, long outputs, const double *start,
        double *sums
    ) {
        long output = 0;
    #if defined(__GNUC__)
        WEBSEAM_GROUP(6)
        WEBSEAM_GROUP(4)
        WEBSEAM_GROUP(2)
    #endif
        for (; output < outputs; output++) {
            double sum = start[output];
            for (long place = 0; place < count; place++) sum += values[place] * weights[places[place] * outputs + output];
            sums[output] = sum;
        }
    }
    """
    long webseam_unusual(
        const double* row, long width, const double* mean, const double* scale, const double* usual, double clipped,
        double* values, long* places
    ) noexcept
    void webseam_add_up(
        const double* values, const long* places, long count, const double* weights, long outputs, const double* start,
        double* sums
    ) noexcept


def add_usual(const double[::1] usual, const double[::1] weights, double[::1] starts):
    """As `perceptron.add_usual_in_python`."""
    cdef Py_ssize_t place, output, outputs = len(starts)
    for place in range(len(usual)):
        for output in range(outputs):
            starts[output] += usual[place] * weights[place * outputs + output]


cdef struct Layer:
    const double* weights
    const double* start
    long outputs


cdef struct Net:
    Layer* layers
    long depth
    const double* mean
    const double* scale
    const double* usual
    bint alike  # its inputs are taken as those of the network before


cdef double answer(Net* net, long many, const double* values, const long* places, double* inner, long* inner_places, double* sums) noexcept:
    """What one network says of one row, of which `many` values are not the usual ones; their places."""
    cdef long layer, place
    for layer in range(net.depth):
        webseam_add_up(values, places, many, net.layers[layer].weights, net.layers[layer].outputs, net.layers[layer].start, sums)
        if layer < net.depth - 1:
            many = 0
            for place in range(net.layers[layer].outputs):
                inner[many] = sums[place]
                inner_places[many] = place
                many += sums[place] > 0.0
            values, places = inner, inner_places
    return 1.0 / (1.0 + exp(-(-30.0 if sums[0] < -30.0 else 30.0 if sums[0] > 30.0 else sums[0])))


def run(list networks, const double[::1] rows, Py_ssize_t count):
    """As `perceptron.run_in_python`."""
    made = array("d", (0.0,)) * count
    cdef double[::1] answers = made
    cdef const double[::1] mean, scale, usual, weights, start
    cdef double clipped = networks[0].clipped
    cdef long nets = len(networks), width = networks[0].inputs[0], room = width, depth = 0, many = 0, layer, number
    cdef Py_ssize_t index
    for network in networks:
        room = max(room, *network.outputs)
        depth += len(network.outputs)
    cdef Layer* layers = <Layer*>PyMem_Malloc(depth * sizeof(Layer))
    cdef Net* each = <Net*>PyMem_Malloc(nets * sizeof(Net))
    cdef double* values = <double*>PyMem_Malloc(3 * room * sizeof(double))
    cdef long* places = <long*>PyMem_Malloc(2 * room * sizeof(long))
    try:
        if layers == NULL or each == NULL or values == NULL or places == NULL:
            raise MemoryError
        depth = 0
        for number in range(nets):
            network = networks[number]
            mean, scale, usual = network.mean, network.scale, network.usual
            each[number].mean, each[number].scale, each[number].usual = &mean[0], &scale[0], &usual[0]
            each[number].alike = number > 0 and network.usual is networks[number - 1].usual
            each[number].layers = layers + depth
            each[number].depth = len(network.outputs)
            for layer in range(each[number].depth):
                weights, start = network.weights[layer], network.starts[layer]
                layers[depth].weights, layers[depth].start = &weights[0], &start[0]
                layers[depth].outputs = network.outputs[layer]
                depth += 1
        for index in range(count):
            for number in range(nets):
                if not each[number].alike:
                    many = webseam_unusual(
                        &rows[index * width], width, each[number].mean, each[number].scale, each[number].usual, clipped, values,
                        places
                    )
                answers[index] += answer(
                    &each[number], many, values, places, values + room, places + room, values + 2 * room
                )
            answers[index] /= nets
        return made
    finally:
        PyMem_Free(layers)
        PyMem_Free(each)
        PyMem_Free(values)
        PyMem_Free(places)
